import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { HistoryAgent } from '../support/history-agent.ts';
import { runRingfence, writeConfig } from '../support/ringfence-process.ts';
import { tempDir } from '../support/temp-dir.ts';

describe('ringfence history', () => {
  test('lists changes newest first, with who made them, and what they did', async () => {
    using agent = new HistoryAgent();
    const first = await agent.write('notes/todo.md', 'one\n', { client: 'claude' });
    const second = await agent.write('notes/todo.md', 'one\ntwo\n', { client: 'cursor' });
    const third = await agent.remove('notes', { client: 'claude' });
    const lines = (await agent.ok('history', '@')).trimEnd().split('\n');
    expect(lines).toEqual([
      expect.stringMatching(
        new RegExp(`^\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d  ${third}  claude  remove_entry  removed notes/$`),
      ),
      expect.stringMatching(new RegExp(`  ${second}  cursor  write_file  changed notes/todo.md \\(4B → 8B\\)$`)),
      expect.stringMatching(new RegExp(`  ${first}  claude  write_file  made folder notes/$`)),
      '    created notes/todo.md (4B)',
    ]);
  });

  test('is limited by path, time, client and number', async () => {
    using agent = new HistoryAgent();
    const ids = [await agent.write('a', '1', { client: 'x' }), await agent.write('dir/b', '1', { client: 'y' })];
    ids.push(await agent.write('a', '2', { client: 'y' }));
    const listed = async (...args: string[]) =>
      (await agent.json('history', ...args)).map(({ id }: { id: string }) => id);
    expect(await listed('@')).toEqual(ids.toReversed());
    expect(await listed('@:a')).toEqual([ids[2], ids[0]]);
    expect(await listed('@:dir')).toEqual([ids[1]]);
    expect(await listed('@', '--client', 'y')).toEqual([ids[2], ids[1]]);
    expect(await listed('@', '--since', ids[1] ?? '')).toEqual([ids[2], ids[1]]);
    expect(await listed('@', '--since', '1h')).toEqual(ids.toReversed());
    expect(await listed('@', '--since', '2100-01-01')).toEqual([]);
    expect(await listed('@', '--limit', '1')).toEqual([ids[2]]);
    expect(await agent.ok('history', '@', '--limit', '2')).toContain('… older ones: --limit 20\n');
  });

  test('shows checkpoints between changes, and starts at one', async () => {
    using agent = new HistoryAgent();
    await agent.write('a', '1');
    await agent.ok('checkpoint', '@', '--name', 'lunch');
    const later = await agent.write('a', '2');
    const lines = (await agent.ok('history', '@')).trimEnd().split('\n');
    expect(lines.map((line) => line.slice(21).replace(/^\w{12}/, 'ID'))).toEqual([
      'ID  agent  write_file  changed a (1B)',
      'checkpoint lunch',
      'ID  agent  write_file  created a (1B)',
    ]);
    expect((await agent.json('history', '@', '--since', 'lunch')).map(({ id }: { id: string }) => id)).toEqual([later]);
  });

  test('shows a checkpoint before the first change, unless older ones are left out', async () => {
    using agent = new HistoryAgent();
    await agent.ok('checkpoint', '@', '--name', 'start');
    await agent.write('a', '1');
    await agent.write('a', '2');
    const shown = async (...args: string[]) => (await agent.ok('history', '@', ...args)).includes('checkpoint start');
    expect([await shown(), await shown('--limit', '1'), await shown('--since', '1h')]).toEqual([true, false, false]);
  });

  test('as JSON has every step, for programs', async () => {
    using agent = new HistoryAgent();
    await agent.write('a', 'x', { client: 'claude', call: 'call-1' });
    const id = await agent.move('a', 'b', { client: 'claude', call: 'call-2' });
    const [change] = await agent.json('history', '@');
    expect(change).toEqual({
      root: agent.folder,
      id,
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      tool: 'move_entry',
      client: 'claude',
      call: 'call-2',
      undone: 'no',
      undoes: [],
      steps: [
        {
          kind: 'move',
          path: 'a',
          to: 'b',
          before: { type: 'file', size: 1 },
          after: { type: 'file', size: 1 },
          undone: false,
        },
      ],
    });
  });

  test('--stats says how much is kept', async () => {
    using agent = new HistoryAgent();
    await agent.write('a', 'x'.repeat(5000));
    await agent.write('a', 'y');
    const text = await agent.ok('history', '@', '--stats');
    expect(text).toMatch(/changes +2 \(2 steps\)/);
    expect(text).toMatch(/kept +1 file, 4\.9KB of at most 1\.0GB/);
    expect(await agent.json('history', '@', '--stats')).toMatchObject([
      { changes: 2, kept_files: 1, kept_bytes: 5000 },
    ]);
  });

  test('shows names that a terminal would act on as JSON', async () => {
    using agent = new HistoryAgent();
    await agent.write('a\u001b[31m\nb', 'x');
    const text = await agent.ok('history', '@');
    expect(text).toContain('created "a\\u001b[31m\\nb"');
    expect(text).not.toContain('\u001b');
  });
});

describe('which root', () => {
  test('is one of the config by its name, or all of them, and tokens need not be set', async () => {
    using one = new HistoryAgent();
    using two = new HistoryAgent();
    const roots = [one, two].map(({ folder }, index) => ({ name: `r${index}`, path: folder, allowed_tools: ['*'] }));
    const auth = { tokens: [{ name: 't', token_env: 'RINGFENCE_TEST_UNSET', roots: ['r0'] }] };
    const config = writeConfig({ roots: [...roots, { name: 'plain', path: tempDir(), allowed_tools: [] }], auth });
    const ids = [await one.write('a', '1'), await two.write('a', '1')];
    const listed = async (...args: string[]) =>
      JSON.parse(await one.ok('history', ...args, '--json', '--config', config)).map(
        ({ root, id }: { root: string; id: string }) => [root, id],
      );
    expect(await listed()).toEqual([
      ['r0', ids[0]],
      ['r1', ids[1]],
    ]);
    expect(await listed('r1')).toEqual([['r1', ids[1]]]);
    expect(await listed('r1:b')).toEqual([]);
    const wrong = await one.run(['history', 'r2', '--config', config]);
    expect(wrong).toMatchObject({ code: 2, stdout: '' });
    expect(wrong.stderr).toBe('ringfence: unknown root "r2" (did you mean r0?); the config has r0, r1, plain\n');
    const plain = await one.run(['history', 'plain', '--config', config]);
    expect([plain.code, plain.stderr]).toEqual([
      1,
      expect.stringContaining('no history has been kept for plain so far'),
    ]);
  });

  test('is the current folder without one, and a folder may have a colon in its name', async () => {
    const top = tempDir();
    for (const name of ['a', 'a:b']) fs.mkdirSync(path.join(top, name));
    using a = new HistoryAgent(path.join(top, 'a'));
    using ab = new HistoryAgent(path.join(top, 'a:b'));
    const [inA, inAb] = [await a.write('c', '1'), await ab.write('c', '1')];
    const ids = async (args: string[], cwd: string) => {
      const { stdout } = await a.run(['history', ...args, '--json'], { cwd });
      return JSON.parse(stdout).map(({ id }: { id: string }) => id);
    };
    expect(await ids([], a.folder)).toEqual([inA]);
    expect(await ids(['a'], top)).toEqual([inA]);
    expect(await ids(['a:b'], top)).toEqual([inAb]);
    expect(await ids(['a:b:c'], top)).toEqual([inAb]);
    expect(await ids(['a:c'], top)).toEqual([inA]);
    expect(await ids(['./a/:b'], top)).toEqual([]);
    fs.rmSync(top, { recursive: true });
  });

  test('a folder without a history stays without one, and the message says what to do', async () => {
    const folder = tempDir();
    for (const command of [['history'], ['review'], ['undo', '--since', '1h'], ['diff', '--since', '1h']]) {
      const { code, stdout, stderr } = await runRingfence([...command, folder]);
      expect([code, stdout, stderr]).toEqual([1, '', expect.stringMatching(/^ringfence: no history .*--history\n$/)]);
    }
    expect(fs.readdirSync(folder)).toEqual([]);
    expect((await runRingfence(['history', `${folder}-missing`])).stderr).toMatch(/does not exist.*--config FILE\n$/);
    fs.rmSync(folder, { recursive: true });
  });

  test('a history may begin with a checkpoint, in a folder that is named or where the config says so', async () => {
    const folder = tempDir();
    expect((await runRingfence(['checkpoint'], { cwd: folder })).code).toBe(1);
    expect(fs.readdirSync(folder)).toEqual([]);
    const { code, stdout } = await runRingfence(['checkpoint', folder, '--name', 'before']);
    expect([code, stdout]).toEqual([0, expect.stringContaining('checkpoint before of ')]);
    expect((await runRingfence(['review', folder])).stdout).toContain('0 entries differ since checkpoint before');
    const [kept, plain] = [tempDir(), tempDir()];
    const roots = [
      { name: 'kept', path: kept, allowed_tools: ['*'], history: true },
      { name: 'plain', path: plain, allowed_tools: ['*'] },
    ];
    const config = writeConfig({ roots });
    expect((await runRingfence(['checkpoint', '--config', config])).stdout).toMatch(
      /^checkpoint \S+ of kept at [^\n]*\n$/,
    );
    expect(fs.readdirSync(plain)).toEqual([]);
    for (const each of [folder, kept, plain, path.dirname(config)]) fs.rmSync(each, { recursive: true });
  });
});

test.each([
  [['history', '--limit', '0'], '--limit: must be a whole number from 1 on, got "0"'],
  [['undo'], 'say which changes: give the id of a change'],
  [['diff'], 'say which changes: give the id of a change'],
  [['undo', 'one', 'two', '--since', '1h'], '"one" and "two" are no ids of changes'],
  [['restore', '.'], "required option '--at <T>' not specified"],
  [['review', '--accept', '--take-back'], 'give either --accept or --take-back'],
  [['review', '--hunk', '1'], '--hunk: say what to do with it'],
])('%j is a mistake in the command', async (args, message) => {
  const { code, stdout, stderr } = await runRingfence(args);
  expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(message)]);
});

test.each(['history', 'diff', 'undo', 'restore', 'checkpoint', 'review'])(
  '%s --help has an example and the exit codes',
  async (command) => {
    const { code, stdout } = await runRingfence([command, '--help']);
    expect([code, stdout]).toEqual([0, expect.stringContaining(`Example:\n  ringfence ${command} `)]);
    expect(stdout).toContain('Exit codes: 0 ');
  },
);

test('ringfence --help lists the commands', async () => {
  const { stdout } = await runRingfence(['--help']);
  for (const command of ['history', 'diff', 'undo', 'restore', 'checkpoint', 'review', 'serve', 'stdio'])
    expect(stdout).toMatch(new RegExp(`^  ${command} `, 'm'));
});

test('a moment that nobody knows is told with those that there are', async () => {
  using agent = new HistoryAgent();
  await agent.write('a', '1');
  await agent.ok('checkpoint', '@', '--name', 'lunch');
  const { code, stderr } = await agent.run(['history', '@', '--since', 'dinner']);
  expect([code, stderr]).toEqual([1, expect.stringContaining("a checkpoint's name (checkpoints are lunch)")]);
  const wrong = await agent.run(['checkpoint', '@', '--name', '15m']);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('--name: "15m" cannot name a checkpoint')]);
});
