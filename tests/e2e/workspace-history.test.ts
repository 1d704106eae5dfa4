import fs from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { CONNECTIONS, ERAS } from '../support/connections.ts';
import { type ServerOptions, startServer, type TestServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';
import { newClient } from '../support/tool-client.ts';
import { treeState } from '../support/tree-state.ts';

const ID = /^[0-9a-z]{12}$/;
const base = tempDir('ringfence-history-');
afterAll(() => fs.rmSync(base, { recursive: true, force: true }));

let made = 0;
/** Makes a folder with a few files. */
function folderWithFiles(): string {
  made += 1;
  const folder = path.join(base, String(made));
  fs.mkdirSync(path.join(folder, 'dir'), { recursive: true });
  fs.writeFileSync(path.join(folder, 'a.txt'), 'one\n');
  fs.writeFileSync(path.join(folder, 'dir/b.txt'), 'two\n');
  return folder;
}

const w = { root: 'w' };
const write = (file: string, content: string) => ({ ...w, path: file, content });

async function start(folder: string, keys: object = {}, options: Partial<ServerOptions> = {}): Promise<TestServer> {
  const { config, ...rest } = options;
  const roots = [{ name: 'w', path: folder, history: true, ...keys } as never];
  const rf = await startServer({ ...rest, roots, config: { durable_writes: false, ...config } });
  rf.checkAnswers(await rf.outputChecks());
  return rf;
}

const ids = async (rf: Pick<TestServer, 'ok'>, more: object = {}): Promise<string[]> =>
  (await rf.ok('list_changes', { ...w, ...more })).changes.map(({ change }: { change: string }) => change);

describe.each(CONNECTIONS)('$transport, $era', (connection) => {
  test('a client sees its changes in results and in a list, and takes them back', async () => {
    if (connection.transport === 'http' && connection.era === 'modern') return;
    const folder = folderWithFiles();
    const before = treeState(folder);
    await using rf = await start(folder, {}, connection);
    const { change: first } = await rf.ok('write_file', write('a.txt', 'changed'));
    const { change: second } = await rf.ok('remove_folder', { ...w, path: 'dir' });
    expect([first, second]).toEqual([expect.stringMatching(ID), expect.stringMatching(ID)]);
    const { changes } = await rf.ok('list_changes', w);
    expect(changes).toEqual([
      { change: second, time: expect.any(String), tool: 'remove_folder', steps: ['removed dir'] },
      { change: first, time: expect.any(String), tool: 'write_file', steps: ['wrote a.txt'] },
    ]);
    const undone = await rf.ok('undo_change', { ...w, change: second });
    expect(undone).toEqual({ steps: ['restored dir'], change: expect.stringMatching(ID) });
    await rf.ok('undo_change', { ...w, change: first });
    expect(treeState(folder)).toEqual(before);
    const [latest] = (await rf.ok('list_changes', w)).changes;
    expect(latest).toMatchObject({ tool: 'undo_change', steps: ['wrote a.txt'], undoes: [first] });
    expect(await rf.fails('undo_change', { ...w, change: first })).toBe(
      `change ${first} is undone already; to bring it back, undo the change that undid it (list_changes) (root: w)`,
    );
    await rf.ok('undo_change', { ...w, change: undone.change });
    expect(fs.existsSync(path.join(folder, 'dir'))).toBe(false);
  });
});

describe('list_changes', () => {
  test('shows nothing of what the rules hide since, and undo_change leaves what they protect', async () => {
    const folder = folderWithFiles();
    const token = 'a-token-of-enough-length';
    const auth = { tokens: [{ name: 'ci', token_env: 'TOKEN', roots: ['w'] }] };
    const options = { config: { auth }, env: { TOKEN: token }, token };
    let hidden: string;
    let kept: string;
    {
      await using rf = await start(folder, {}, options);
      hidden = (await rf.ok('write_file', write('secret.txt', 'x'))).change;
      kept = (await rf.ok('write_file', write('a.txt', 'x'))).change;
      expect(await ids(rf)).toEqual([kept, hidden]);
    }
    await using rf = await start(folder, { deny: ['secret.txt'], protect: ['a.txt'] }, options);
    expect(await ids(rf)).toEqual([kept]);
    expect((await rf.call('list_changes', w)).text).not.toContain('secret');
    for (const change of [hidden, kept])
      expect(await rf.fails('undo_change', { ...w, change })).toContain("is not allowed by the operator's rules");
    expect(fs.readFileSync(path.join(folder, 'a.txt'), 'utf8')).toBe('x');
    expect(fs.existsSync(path.join(folder, 'secret.txt'))).toBe(true);
  });
});

describe('whose changes they are', () => {
  const tokens = { ALICE: 'alice-token-0123456789', BOB: 'bob-token-0123456789', OPS: 'ops-token-0123456789' };
  const auth = {
    tokens: [
      { name: 'alice', token_env: 'ALICE', roots: ['w'] },
      { name: 'bob', token_env: 'BOB', roots: ['w'] },
      { name: 'ops', token_env: 'OPS', roots: ['w'], undo: 'all' },
    ],
  };

  test.each(ERAS)('%s: those of its token, in any session, or of all with undo: all', async (era) => {
    const folder = folderWithFiles();
    await using rf = await start(folder, {}, { config: { auth }, env: tokens, token: tokens.ALICE });
    await using again = await rf.connect({ era, token: tokens.ALICE });
    await using bob = await rf.connect({ era, token: tokens.BOB });
    await using ops = await rf.connect({ era, token: tokens.OPS });
    const { change } = await rf.ok('write_file', write('a.txt', 'x'));
    expect([await ids(again), await ids(bob), await ids(ops)]).toEqual([[change], [], [change]]);
    expect(await bob.fails('undo_change', { ...w, change })).toBe(
      `change ${change} is not yours, so it cannot be undone; list_changes shows those that can (root: w)`,
    );
    expect((await ops.ok('list_changes', w)).changes[0].client).toBe('alice');
    const { change: undo } = await ops.ok('undo_change', { ...w, change });
    expect(fs.readFileSync(path.join(folder, 'a.txt'), 'utf8')).toBe('one\n');
    expect(await again.fails('undo_change', { ...w, change: undo })).toContain('is not yours');
  });

  test('without tokens, those of its session', async () => {
    await using rf = await start(folderWithFiles());
    await using other = await rf.connect();
    await using anonymous = await rf.connect({ era: 'modern' });
    const { change } = await rf.ok('write_file', write('a.txt', 'x'));
    expect([await ids(rf), await ids(other), await ids(anonymous)]).toEqual([[change], [], []]);
    expect(await other.fails('undo_change', { ...w, change })).toContain('is not yours');
    expect(await anonymous.fails('undo_change', { ...w, change })).toContain('ask the operator for a token');
    const { change: nobodys } = await anonymous.ok('write_file', write('new.txt', 'x'));
    expect(await rf.fails('undo_change', { ...w, change: nobodys })).toContain('is not yours');
  });

  test('on stdio, those of its process', async () => {
    const folder = folderWithFiles();
    await using one = await start(folder, {}, { transport: 'stdio' });
    await using two = await start(folder, {}, { transport: 'stdio' });
    const { change } = await one.ok('write_file', write('a.txt', 'x'));
    expect([await ids(one), await ids(two)]).toEqual([[change], []]);
    expect(await two.fails('undo_change', { ...w, change })).toContain('is not yours');
  });
});

test('the log of a call that changed something has the ids by which the history knows it', async () => {
  const folder = folderWithFiles();
  fs.writeFileSync(path.join(folder, 'large'), 'x'.repeat(2000));
  await using rf = await start(folder, { history: { max_bytes: '1KB' } });
  const { change } = await rf.ok('write_file', write('a.txt', 'x'));
  const line = await rf.waitForLog(({ tool }) => tool === 'write_file');
  expect(line).toMatchObject({ change, call: expect.stringMatching(/^[0-9a-f]{16}$/) });
  await rf.ok('read_file', { ...w, path: 'a.txt' });
  const read = await rf.waitForLog(({ tool }) => tool === 'read_file');
  expect([read.change, read.call]).toEqual([undefined, undefined]);
  expect(line).not.toHaveProperty('unkept');
  await rf.ok('move', { source_root: 'w', source_path: 'dir/b.txt', dest_root: 'w', dest_path: 'large' });
  expect(await rf.waitForLog(({ tool }) => tool === 'move')).toMatchObject({ unkept: 1 });
  await rf.fails('remove_file', { ...w, path: 'nothing' });
  expect((await rf.waitForLog(({ tool }) => tool === 'remove_file')).change).toBeUndefined();
  const { change: undo } = await rf.ok('undo_change', { ...w, change });
  expect(await rf.waitForLog(({ tool }) => tool === 'undo_change')).toMatchObject({ change: undo });
});

test('the start says which roots have history', async () => {
  const folder = folderWithFiles();
  await using rf = await startServer({
    roots: [{ name: 'w', path: folder, history: true } as never, { name: 'v', path: folder }],
  });
  expect(await rf.waitForLog(({ msg }) => msg === 'listening')).toMatchObject({ roots: ['w', 'v'], history: ['w'] });
  expect(await rf.ok('list_roots')).toMatchObject({
    roots: [
      { name: 'w', allowed_tools: expect.arrayContaining(['list_changes', 'undo_change']) },
      { name: 'v', allowed_tools: expect.not.arrayContaining(['list_changes']) },
    ],
  });
  // A root without history keeps no record, even of the same folder.
  expect(await rf.ok('write_file', { root: 'v', path: 'a.txt', content: 'x' })).not.toHaveProperty('change');
});

describe('--history', () => {
  const list = async (rf: TestServer): Promise<string[]> => (await rf.client.listTools()).tools.map(({ name }) => name);

  test('keeps the history of folders without a config', async () => {
    const folder = folderWithFiles();
    await using rf = await startServer({ args: ['--history', folder] });
    expect(await list(rf)).toEqual(expect.arrayContaining(['list_changes', 'undo_change']));
    const { change } = await rf.ok('write_file', { root: path.basename(folder), path: 'a.txt', content: 'x' });
    await rf.ok('undo_change', { root: path.basename(folder), change });
    expect(fs.readFileSync(path.join(folder, 'a.txt'), 'utf8')).toBe('one\n');
  });

  test('is off by default, and then nothing of it is to be seen', async () => {
    const folder = folderWithFiles();
    await using rf = await startServer({ args: [folder] });
    expect((await list(rf)).filter((name) => /change/.test(name))).toEqual([]);
    const { roots } = await rf.ok('list_roots');
    expect(roots[0].allowed_tools.filter((name: string) => /change/.test(name))).toEqual([]);
    const written = await rf.ok('write_file', { root: path.basename(folder), path: 'a.txt', content: 'x' });
    expect(written).not.toHaveProperty('change');
    expect(fs.existsSync(path.join(folder, '.ringfence'))).toBe(false);
  });

  test.each([
    ['memory', 'BASE_PATH', 'str_replace', { path: 'a.txt', old_str: 'one', new_str: 'x' }, 'Edited a.txt.'],
    ['classic', 'FS_SERVER_ROOT', 'write', { path: 'a.txt', content: 'x' }, undefined],
  ] as const)('keeps that of %s, whose results stay as they are', async (dialect, variable, tool, args, text) => {
    const folder = folderWithFiles();
    await using rf = await startServer({ dialect, args: ['--history'], env: { [variable]: folder } });
    const result = await rf.call(tool, args);
    if (text !== undefined) expect(result.text).toBe(text);
    expect(result.structured).not.toHaveProperty('change');
    const line = await rf.waitForLog((each) => each.tool === tool);
    expect(line.change).toMatch(ID);
    // It is logged that the folder is about to be removed, and then that it was not.
    expect((await rf.call('delete', { path: 'dir' })).isError).toBe(true);
    expect((await rf.waitForLog((each) => each.tool === 'delete')).change).toBeUndefined();
    expect(fs.readdirSync(path.join(folder, '.ringfence')).sort()).toEqual(['.gitignore', 'kept', 'log']);
  });
});

describe('for clients that are served text', () => {
  test('results, the list and an undo are lines to read', async () => {
    const client = newClient('legacy', {}, 'claude-code');
    const folder = folderWithFiles();
    await using rf = await startServer({
      roots: [{ name: 'w', path: folder, history: { max_bytes: '1KB' } } as never],
      client,
    });
    const text = async (tool: string, args: object): Promise<string> => (await rf.call(tool, { ...w, ...args })).text;
    const [, id] = /^wrote a\.txt: 1 bytes, version \w+, change ([0-9a-z]{12})$/.exec(
      await text('write_file', { path: 'a.txt', content: 'x' }),
    ) as unknown as [string, string];
    const edited = await text('edit_file', { path: 'dir/b.txt', old_text: 'two', new_text: 'three' });
    expect(edited).toMatch(/^edited dir\/b\.txt: 1 replacement at line 1, version \w+, change [0-9a-z]{12}\n@@/);
    const time = '\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z';
    expect(await text('list_changes', { limit: 1 })).toMatch(
      new RegExp(`^[0-9a-z]{12} ${time} edit_file: wrote dir/b.txt\n\\[there are older ones\\]$`),
    );
    expect(await text('undo_change', { change: id })).toMatch(
      new RegExp(`^undid ${id}, change [0-9a-z]{12}\nreverted a.txt$`),
    );
    expect(await text('list_changes', { path: 'a.txt' })).toMatch(
      /undo_change: wrote a\.txt \(undoes .*\n.*\(undone\)$/,
    );
    expect(await text('list_changes', { path: 'nothing' })).toBe('no changes of yours');
    fs.writeFileSync(path.join(folder, 'large'), 'x'.repeat(2000));
    expect(await text('remove_file', { path: 'large' })).toMatch(
      /^removed large, change [0-9a-z]{12}; too large to be kept for an undo: one entry$/,
    );
    const { tools } = await rf.client.listTools();
    expect(tools.find(({ name }) => name === 'list_changes')?.outputSchema).toBeUndefined();
    expect(Buffer.byteLength(JSON.stringify({ tools }))).toBeLessThan(12_000);
  });
});
