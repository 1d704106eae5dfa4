import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { HistoryAgent } from '../support/history-agent.ts';
import { noTerminal, runOnTerminal } from '../support/pty.ts';
import { tempDir } from '../support/temp-dir.ts';

const onTerminal = test.skipIf(noTerminal !== undefined);
const why = noTerminal === undefined ? '' : ` (${noTerminal})`;

describe('ringfence diff', () => {
  test('shows one change, later ones left out', async () => {
    using agent = new HistoryAgent();
    agent.place('a.txt', 'one\ntwo\nthree\n');
    const id = await agent.write('a.txt', 'one\n2\nthree\nfour');
    await agent.write('a.txt', 'nothing of this\n');
    expect(await agent.ok('diff', id, '@')).toBe(
      [
        'diff --git a/a.txt b/a.txt',
        '--- a/a.txt',
        '+++ b/a.txt',
        '@@ -1,3 +1,4 @@',
        ' one',
        '-two',
        '+2',
        ' three',
        '+four',
        '\\ No newline at end of file',
        '',
      ].join('\n'),
    );
  });

  test('since a time shows deletions first, files that are not text with their sizes, and what moved', async () => {
    using agent = new HistoryAgent();
    agent.place('z/gone.txt', 'gone\n');
    agent.place('b.bin', Buffer.from([1, 0, 2]));
    agent.place('from.txt', 'moved\n');
    agent.place('same.txt', 'same\n');
    await agent.write('a.txt', 'new\n');
    await agent.write('b.bin', Buffer.from([1, 0, 2, 3]));
    await agent.move('from.txt', 'to.txt');
    await agent.write('same.txt', 'other\n');
    await agent.write('same.txt', 'same\n');
    await agent.remove('z');
    const text = await agent.ok('diff', '--since', '1h', '@');
    expect(text.split('\n').filter((line) => line.startsWith('diff '))).toEqual([
      'diff --git a/z/gone.txt b/z/gone.txt',
      'diff --git a/b.bin b/b.bin',
      'diff --git a/from.txt b/to.txt',
      'diff --git a/a.txt b/a.txt',
    ]);
    expect(text).toMatch(/^removed folder z\/\ndiff --git/);
    expect(text).toContain('deleted file mode 100644\n--- a/z/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n');
    expect(text).toContain('binary files differ: 3 bytes → 4 bytes\n');
    expect(text).toContain('rename from from.txt\nrename to to.txt\n');
    expect(text).toContain('new file mode 100644\n--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+new\n');
    const json = await agent.json('diff', '--since', '1h', '@');
    expect(json.map(({ change, path }: Record<string, string>) => `${change} ${path}`)).toEqual([
      'removed z',
      'removed z/gone.txt',
      'changed b.bin',
      'moved to.txt',
      'added a.txt',
    ]);
    expect(json[4]).toMatchObject({ before: null, hunks: [{ number: 1, header: '@@ -0,0 +1 @@', lines: ['+new'] }] });
    expect(await agent.ok('diff', '--since', '1h', '@:z')).not.toContain('a.txt');
  });

  test('is what git applies, byte for byte', async () => {
    using agent = new HistoryAgent();
    const before = Buffer.from('a\r\nb\n\xe4\n'.repeat(20), 'latin1');
    const after = Buffer.concat([
      Buffer.from('first\r\n'),
      before.subarray(0, 100),
      Buffer.from('\xff last', 'latin1'),
    ]);
    agent.place('a.txt', before);
    agent.place('old/gone.txt', 'gone');
    await agent.write('a.txt', after);
    await agent.write('new/file.txt', 'new\n');
    await agent.remove('old');
    const copy = tempDir();
    fs.writeFileSync(`${copy}/a.txt`, before);
    fs.mkdirSync(`${copy}/old`);
    fs.writeFileSync(`${copy}/old/gone.txt`, 'gone');
    const bin = fileURLToPath(new URL('../../dist/bin.js', import.meta.url));
    const patch = execFileSync(process.execPath, [bin, 'diff', '--since', '1h', agent.folder]);
    execFileSync('git', ['apply', '--whitespace=nowarn', '-'], { cwd: copy, input: patch });
    expect(fs.readdirSync(copy).sort()).toEqual(['a.txt', 'new']);
    expect(fs.readFileSync(`${copy}/new/file.txt`, 'utf8')).toBe('new\n');
    expect(fs.readFileSync(`${copy}/a.txt`)).toEqual(after);
    fs.rmSync(copy, { recursive: true });
  });

  onTerminal(`has colours on a terminal, and shows what a terminal would act on${why}`, async () => {
    using agent = new HistoryAgent();
    const id = await agent.write('a.txt', 'plain\n\u001b[2Jclear\ttab\n');
    const { screen } = await runOnTerminal(['diff', id, agent.folder]);
    expect(screen).toContain('\u001b[32m+plain\u001b[0m\n\u001b[32m+\\u001b[2Jclear\ttab\u001b[0m\n');
    const plain = await runOnTerminal(['diff', id, agent.folder], [], { NO_COLOR: '1' });
    expect(plain.screen).toContain('+plain\n+\\u001b[2Jclear\ttab\n');
  });
});

describe('ringfence restore', () => {
  test('puts a file back as it was, and what it replaces can be had again', async () => {
    using agent = new HistoryAgent();
    agent.place('a.txt', 'first\n');
    fs.chmodSync(agent.host('a.txt'), 0o600);
    fs.utimesSync(agent.host('a.txt'), 1000, 1000);
    const second = await agent.write('a.txt', 'second\n');
    await agent.write('a.txt', 'third\n');
    await agent.ok('restore', '@:a.txt', '--at', second, '--yes');
    const { mode, mtimeMs } = fs.statSync(agent.host('a.txt'));
    expect([agent.text('a.txt'), mode & 0o777, mtimeMs]).toEqual(['first\n', 0o600, 1_000_000]);
    const [{ id, tool, client }] = await agent.json('history', '@');
    expect([tool, client]).toEqual(['restore', 'command line']);
    await agent.ok('undo', id, '@', '--yes');
    expect(agent.text('a.txt')).toBe('third\n');
  });

  test('puts a removed folder elsewhere, as it was at a checkpoint', async () => {
    using agent = new HistoryAgent();
    await agent.write('dir/sub/a', 'one');
    await agent.ok('checkpoint', '@', '--name', 'good');
    await agent.write('dir/sub/a', 'two');
    await agent.remove('dir');
    const text = await agent.ok('restore', '@:dir', '--at', 'good', '--to', 'old/dir', '--yes');
    expect(text).toContain('put back dir/ as it was at good, as old/dir\n');
    expect([agent.text('old/dir/sub/a'), fs.existsSync(agent.host('dir'))]).toEqual(['one', false]);
  });

  test('refuses what was not there, what is outside, and to answer for the operator', async () => {
    using agent = new HistoryAgent();
    const id = await agent.write('a', 'one');
    const refusal = async (...args: string[]) => {
      const { code, stderr } = await agent.run(['restore', ...args]);
      return [code, stderr];
    };
    expect(await refusal('@:a', '--at', id, '--yes')).toEqual([1, expect.stringContaining('there was no a at')]);
    expect(await refusal('@', '--at', id, '--yes')).toEqual([2, expect.stringContaining('give ROOT:PATH')]);
    for (const to of ['../b', '.ringfence/b', '.'])
      expect(await refusal('@:a', '--at', '0s', '--to', to)).toEqual([2, expect.stringContaining('--to: ')]);
    expect(await refusal('@:.ringfence/log', '--at', '0s')).toEqual([2, expect.stringContaining('not a path in')]);
    expect(await refusal('@:a', '--at', '0s')).toEqual([1, expect.stringContaining('give --yes to agree')]);
    expect(agent.text('a')).toBe('one');
  });
});
