import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { describe, expect, test } from 'vitest';
import { HistoryAgent } from '../support/history-agent.ts';
import { noTerminal, runOnTerminal } from '../support/pty.ts';
import { runRingfence, writeConfig } from '../support/ringfence-process.ts';
import { startServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';

const onTerminal = test.skipIf(noTerminal !== undefined);
const why = noTerminal === undefined ? '' : ` (${noTerminal})`;

describe('ringfence undo', () => {
  test('takes one change back, says how to reverse that, and does', async () => {
    using agent = new HistoryAgent();
    await agent.write('a', 'one\n');
    const id = await agent.write('a', 'two\n');
    const text = await agent.ok('undo', id, '@', '--yes');
    expect(text).toContain('put back a (4B)\n');
    expect(agent.text('a')).toBe('one\n');
    const [, reverse = ''] = /to reverse that: ringfence undo (\w+) /.exec(text) ?? [];
    await agent.ok('undo', reverse, '@', '--yes');
    expect(agent.text('a')).toBe('two\n');
    expect(await agent.ok('history', '@')).toContain(`takes back ${id}`);
  });

  test('also removes the temporary files that killed processes left, but none that is kept', async () => {
    using agent = new HistoryAgent();
    const left = '.ringfence-tmp-of-another-version';
    agent.place(`folder/${left}`, '');
    agent.place(`kept/${left}`, '');
    for (const name of ['folder', 'kept']) fs.utimesSync(agent.host(`${name}/${left}`), 1, 1);
    const removed = await agent.remove('kept');
    const id = await agent.write('a', 'one');
    await agent.ok('undo', id, '@', '--yes');
    expect(fs.readdirSync(agent.host('folder'))).toEqual([]);
    const kept = fs.readdirSync(agent.host('.ringfence/kept'), { recursive: true }).map(String);
    expect(kept.filter((name) => name.endsWith(`${removed}-0/${left}`))).toHaveLength(1);
  });

  test('takes back a whole afternoon: what was made, changed, moved and removed', async () => {
    using agent = new HistoryAgent();
    agent.place('src/main.ts', 'main\n');
    agent.place('src/old.ts', 'old\n');
    agent.place('docs/deep/guide.md', 'guide\n');
    fs.chmodSync(agent.host('src/main.ts'), 0o640);
    const before = fs.statSync(agent.host('src/main.ts'));
    await agent.write('src/main.ts', 'rewritten\n');
    await agent.write('new/folder/file', 'new\n');
    await agent.move('src/old.ts', 'new/old.ts');
    await agent.remove('docs');
    const shown = await agent.ok('undo', '--since', '4h', '@', '--yes');
    expect(shown.split('\n').slice(0, 3)).toEqual(['remove new/folder/file (4B)', 'remove new/folder/', 'remove new/']);
    for (const line of [
      'bring back docs/\n',
      'put back src/main.ts (10B → 5B)\n',
      'move back new/old.ts to src/old.ts\n',
    ])
      expect(shown).toContain(line);
    expect(agent.text('src/main.ts')).toBe('main\n');
    expect(agent.text('src/old.ts')).toBe('old\n');
    expect(agent.text('docs/deep/guide.md')).toBe('guide\n');
    expect(fs.readdirSync(agent.folder).sort()).toEqual(['.ringfence', 'docs', 'src']);
    const after = fs.statSync(agent.host('src/main.ts'));
    expect([after.mode, after.mtimeMs]).toEqual([before.mode, before.mtimeMs]);
    expect(await agent.ok('undo', '--since', '4h', '@', '--yes')).toBe('nothing to take back\n');
  });

  test('takes everything back once more after that was reversed', async () => {
    using agent = new HistoryAgent();
    agent.place('from/inside', 'one\n');
    await agent.copy('from', 'copied');
    await agent.write('copied/inside', 'two\n');
    const text = await agent.ok('undo', '--since', '4h', '@', '--yes');
    const [, reverse = ''] = /to reverse that: ringfence undo (\w+) /.exec(text) ?? [];
    await agent.ok('undo', reverse, '@', '--yes');
    expect(agent.text('copied/inside')).toBe('two\n');
    await agent.ok('undo', '--since', '4h', '@', '--yes');
    expect(fs.readdirSync(agent.folder).sort()).toEqual(['.ringfence', 'from']);
  });

  test('by client, by call and by path leaves the rest', async () => {
    using agent = new HistoryAgent();
    await agent.write('a', '1', { client: 'x', call: 'c1' });
    await agent.write('b', '1', { client: 'y', call: 'c2' });
    await agent.write('dir/c', '1', { client: 'y', call: 'c3' });
    await agent.ok('undo', '--call', 'c2', '@', '--yes');
    expect([agent.text('a'), agent.text('b'), agent.text('dir/c')]).toEqual(['1', undefined, '1']);
    await agent.ok('undo', '--client', 'y', '@:dir', '--yes');
    expect([agent.text('a'), agent.text('dir/c'), fs.existsSync(agent.host('dir'))]).toEqual(['1', undefined, false]);
    expect(await agent.ok('undo', '--client', 'nobody', '@', '--yes')).toBe('nothing to take back\n');
  });

  test('since a time after a part was taken back, and done again, takes back what is left', async () => {
    using agent = new HistoryAgent();
    for (const name of ['a', 'b', 'c']) agent.place(name, 'before');
    const [a, b] = [await agent.write('a', '1'), await agent.write('b', '1')];
    await agent.ok('undo', a, b, '@', '--yes');
    const [{ id: undone }] = await agent.json('history', '@');
    await agent.ok('undo', undone, '@:b', '--yes');
    await agent.write('c', '1');
    expect(['a', 'b', 'c'].map((name) => agent.text(name))).toEqual(['before', '1', '1']);
    const shown = await agent.ok('undo', '--since', '1h', '@', '--yes');
    expect(shown).toMatch(/^put back c [^\n]*\nput back b [^\n]*\ntook back 2 steps/);
    expect(['a', 'b', 'c'].map((name) => agent.text(name))).toEqual(['before', 'before', 'before']);
  });

  test('of a call that changed two roots takes both back, or none', async () => {
    using one = new HistoryAgent();
    using two = new HistoryAgent();
    const roots = [one, two].map(({ folder }, index) => ({ name: `r${index}`, path: folder, allowed_tools: ['*'] }));
    const config = writeConfig({ roots });
    for (const agent of [one, two]) await agent.write('a', '1', { call: 'c' });
    two.place('a', 'by hand');
    const refused = await one.run(['undo', '--call', 'c', '--config', config, '--yes']);
    expect([refused.code, one.text('a'), two.text('a')]).toEqual([1, '1', 'by hand']);
    fs.rmSync(two.host('a'));
    await two.write('a', '1', { call: 'd' });
    const text = await one.ok('undo', '--call', 'd', '--config', config, '--yes');
    expect(text).toMatch(/to reverse that: ringfence undo \w+ r1 --config /);
    expect(two.text('a')).toBeUndefined();
  });

  test('names every conflict, does nothing then, and with --force keeps the newer content', async () => {
    using agent = new HistoryAgent();
    const [first, second] = [await agent.write('a', 'one'), await agent.write('b', 'one')];
    const newer = await agent.write('a', 'newer');
    agent.place('b', 'by hand');
    await agent.write('c', 'fine');
    const refused = await agent.run(['undo', first, second, '@', '--yes']);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(`conflict: a was changed since, by change ${newer} (change ${first})\n`);
    expect(refused.stderr).toContain(`conflict: b was changed since (change ${second})\n`);
    expect(refused.stderr).toContain('2 conflicts, so nothing was taken back');
    expect(refused.stdout).toBe('');
    expect([agent.text('a'), agent.text('b')]).toEqual(['newer', 'by hand']);
    const forced = await agent.ok('undo', first, second, '@', '--yes', '--force');
    expect([agent.text('a'), agent.text('b'), agent.text('c')]).toEqual([undefined, undefined, 'fine']);
    const [, reverse = ''] = /ringfence undo (\w+) /.exec(forced.slice(forced.indexOf('reverse'))) ?? [];
    await agent.ok('undo', reverse, '@', '--yes');
    expect([agent.text('a'), agent.text('b')]).toEqual(['newer', 'by hand']);
  });

  test('--dry-run shows what it would do and does nothing', async () => {
    using agent = new HistoryAgent();
    const id = await agent.write('a', 'one');
    const { code, stdout, stderr } = await agent.run(['undo', id, '@', '--dry-run']);
    expect([code, stdout, stderr]).toEqual([0, 'remove a (3B)\n', 'nothing was done (--dry-run)\n']);
    expect(agent.text('a')).toBe('one');
  });

  test('without a terminal and without --yes refuses, and says so', async () => {
    using agent = new HistoryAgent();
    const id = await agent.write('a', 'one');
    const { code, stderr } = await agent.run(['undo', id, '@'], { stdin: 'y\n' });
    expect([code, stderr]).toEqual([1, expect.stringContaining('no terminal to ask on; give --yes')]);
    expect(agent.text('a')).toBe('one');
  });

  test('of a change that the history does not know says where to look', async () => {
    using agent = new HistoryAgent();
    const id = await agent.write('a', 'one');
    const other = `${id.slice(0, 8)}zzzz`;
    const { code, stderr } = await agent.run(['undo', id, other, '@', '--yes']);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(new RegExp(`no change ${other} in .*"ringfence history"`)),
    ]);
    expect(agent.text('a')).toBe('one');
  });

  test('works while a server is writing to the same root', async () => {
    using agent = new HistoryAgent();
    const id = await agent.write('a', 'one');
    const writing = (async () => {
      for (let nth = 0; nth < 50; nth += 1) await agent.write(`other-${nth}`, String(nth));
    })();
    await agent.ok('undo', id, '@', '--yes');
    await writing;
    expect(agent.text('a')).toBeUndefined();
    await agent.write('a', 'again');
    expect((await agent.json('history', '@')).length).toBe(53);
    await agent.ok('undo', '--since', '1h', '@', '--yes');
    expect(fs.readdirSync(agent.folder)).toEqual(['.ringfence']);
  });

  test('works beside a server that is started with history, by the names of its config', async () => {
    const folder = tempDir('ringfence-history-');
    const roots = [{ name: 'w', path: folder, allowed_tools: ['*'], history: true }];
    await using rf = await startServer({ roots });
    const config = writeConfig({ roots });
    const cli = (...args: string[]) => runRingfence([...args, '--config', config]);
    await rf.ok('write_file', { root: 'w', path: 'dir/a.txt', content: 'one\n' });
    await rf.ok('write_file', { root: 'w', path: 'dir/a.txt', content: 'two\n' });
    const { stdout } = await cli('history', 'w:dir/a.txt', '--json');
    const [newest] = JSON.parse(stdout);
    expect(newest).toMatchObject({ root: 'w', tool: 'write_file', undone: 'no' });
    expect((await cli('undo', newest.id, '--yes')).code).toBe(0);
    expect(await rf.ok('read_file', { root: 'w', path: 'dir/a.txt' })).toMatchObject({ content: 'one\n' });
    await rf.ok('write_file', { root: 'w', path: 'dir/a.txt', content: 'three\n' });
    expect((await cli('undo', '--since', '1h', 'w', '--yes')).code).toBe(0);
    expect(fs.readdirSync(folder)).toEqual(['.ringfence']);
    fs.rmSync(folder, { recursive: true });
  });

  onTerminal(`asks on a terminal, and only yes is a yes${why}`, async () => {
    using agent = new HistoryAgent();
    const id = await agent.write('a', 'one');
    for (const answer of ['n', '', 'nope', '\u0004']) {
      const { code, screen } = await runOnTerminal(['undo', id, agent.folder], [['Take this back? [y/N] ', answer]]);
      expect([code, screen]).toEqual([1, expect.stringContaining('ringfence: nothing was done')]);
    }
    expect(agent.text('a')).toBe('one');
    const { code, screen } = await runOnTerminal(['undo', id, agent.folder], [['Take this back? [y/N] ', 'y']]);
    expect([code, screen]).toEqual([0, expect.stringContaining('took back 1 step')]);
    expect(agent.text('a')).toBeUndefined();
  });

  onTerminal(`has colours on a terminal, unless NO_COLOR is set${why}`, async () => {
    using agent = new HistoryAgent();
    const id = await agent.write('a', 'one');
    const red = '\u001b[31mremove a (3B)\u001b[0m';
    expect((await runOnTerminal(['undo', id, agent.folder, '--dry-run'])).screen).toContain(red);
    const plain = await runOnTerminal(['undo', id, agent.folder, '--dry-run'], [], { NO_COLOR: '1' });
    expect(plain.screen).toContain('remove a (3B)');
    expect(plain.screen).not.toContain('\u001b');
  });

  test('ends quietly when nobody reads on', async () => {
    using agent = new HistoryAgent();
    for (let nth = 0; nth < 20; nth += 1) await agent.write('a', String(nth));
    const bin = new URL('../../dist/bin.js', import.meta.url).pathname;
    const shell = `"${process.execPath}" "${bin}" history "${agent.folder}" | head -n 1`;
    const child = spawn('sh', ['-c', shell], { stdio: ['ignore', 'pipe', 'pipe'] });
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk;
    });
    child.stdout.resume();
    await once(child, 'close');
    expect(stderr).toBe('');
  });
});
