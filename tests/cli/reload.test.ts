import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { recordFigure } from '../support/figures.ts';
import { LANDLOCK_PROBLEM } from '../support/landlock.ts';
import { ReloadableServer } from '../support/reloadable-server.ts';
import { tempDir } from '../support/temp-dir.ts';
import { newClient, type ToolClient } from '../support/tool-client.ts';

const base = tempDir('ringfence-reload-');
afterAll(() => fs.rmSync(base, { recursive: true, force: true }));

const NO_JAIL = { hardening: { landlock: 'off' } };
const ALL = ['*'];
const [SECRET, OTHER, ROTATED] = ['first-secret-0123456789', 'other-secret-0123456789', 'rotated-secret-0123456789'];
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

let one: string;
let two: string;
beforeEach(() => {
  [one, two] = ['one-', 'two-'].map((name) => fs.mkdtempSync(path.join(base, name))) as [string, string];
  for (const folder of [one, two]) fs.writeFileSync(path.join(folder, 'a.txt'), `text of ${path.basename(folder)}`);
});

const root = (name: string, folder: string, more: object = {}) => ({
  name,
  path: folder,
  allowed_tools: ALL,
  ...more,
});
const names = async (client: ToolClient): Promise<string[]> =>
  (await client.ok('list_roots')).roots.map(({ name }: { name: string }) => name);
const read = (client: ToolClient, name: string) => client.call('read_file', { root: name, path: 'a.txt' });

test.each(['http', 'stdio'] as const)('%s: an open session sees other roots with its next call', async (transport) => {
  const command = transport === 'http' ? 'serve' : 'stdio';
  await using server = new ReloadableServer({ ...NO_JAIL, roots: [root('one', one)] }, { command });
  await using client = await (transport === 'http' ? server.connect() : server.connectStdio());
  expect(await names(client)).toEqual(['one']);
  const line = await server.reload({ ...NO_JAIL, roots: [root('one', one), root('two', two)] });
  expect(line).toMatchObject({ level: 'info', msg: 'config reloaded', roots_added: ['two'] });
  expect(await names(client)).toEqual(['one', 'two']);
  expect((await read(client, 'two')).isError).toBe(false);
  expect(await server.reload({ ...NO_JAIL, roots: [root('two', one)] })).toMatchObject({
    roots_removed: ['one'],
    roots_changed: ['two'],
  });
  expect(await client.fails('read_file', { root: 'one', path: 'a.txt' })).toContain('one');
  expect((await client.ok('read_file', { root: 'two', path: 'a.txt' })).content).toBe(`text of ${path.basename(one)}`);
});

test('allowlists, read_only, deny, protect and confirm hold for the next call of an open session', async () => {
  await using server = new ReloadableServer({ ...NO_JAIL, roots: [root('one', one)] }, {});
  await using client = await server.connect();
  const write = () => client.call('write_file', { root: 'one', path: 'new.txt', content: 'x' });
  expect((await write()).isError).toBe(false);
  const served = (more: object) => server.reload({ ...NO_JAIL, roots: [root('one', one, more)] });

  await served({ read_only: true });
  expect((await write()).isError).toBe(true);
  await served({ allowed_tools: ['read_file'] });
  expect((await write()).isError).toBe(true);
  expect((await read(client, 'one')).isError).toBe(false);
  await served({ deny: ['a.txt'] });
  expect((await write()).isError).toBe(false);
  expect((await read(client, 'one')).text).toContain('not found');
  await served({ protect: ['new.txt'] });
  expect((await write()).isError).toBe(true);
  expect((await read(client, 'one')).isError).toBe(false);
  await served({ confirm: ['write_file'] });
  expect((await write()).isError).toBe(true);
  await served({});
  expect((await write()).isError).toBe(false);
});

test('history switched on adds its tools, keeps changes, and off again removes them', async () => {
  await using server = new ReloadableServer({ ...NO_JAIL, roots: [root('one', one)] }, {});
  await using client = await server.connect();
  await using stateless = await server.connect({ era: 'modern' });
  const tools = async (by: ToolClient) => (await by.client.listTools()).tools.map(({ name }) => name);
  expect(await tools(client)).not.toContain('undo_change');
  await server.reload({ ...NO_JAIL, roots: [root('one', one, { history: true })] });
  for (const by of [client, await server.connect({ era: 'modern' })]) expect(await tools(by)).toContain('undo_change');
  const { change } = await client.ok('write_file', { root: 'one', path: 'a.txt', content: 'new' });
  await client.ok('undo_change', { root: 'one', change });
  expect(fs.readFileSync(path.join(one, 'a.txt'), 'utf8')).toBe(`text of ${path.basename(one)}`);
  await server.reload({ ...NO_JAIL, roots: [root('one', one)] });
  expect(await tools(client)).not.toContain('undo_change');
  await expect(client.call('undo_change', { root: 'one', change })).rejects.toThrow('unknown tool');
  expect((await read(stateless, 'one')).isError).toBe(false);
});

test('tokens are added, removed, changed and rotated; a removed one gets 401 and loses its sessions', async () => {
  const tokens = (...entries: object[]) => ({
    ...NO_JAIL,
    roots: [root('one', one), root('two', two)],
    auth: { tokens: entries },
  });
  const token = (name: string, secret: string, more: object = {}) => ({
    name,
    sha256: sha256(secret),
    roots: ['one'],
    ...more,
  });
  await using server = new ReloadableServer(tokens(token('a', SECRET), token('b', OTHER)), {});
  const url = await server.url();
  const client = newClient('legacy');
  let secret = SECRET;
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const authorised: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set('authorization', `Bearer ${secret}`);
    return fetch(input, { ...init, headers });
  };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { fetch: authorised }));
  const call = (name: string) =>
    client.callTool({ name, arguments: name === 'list_roots' ? {} : { root: 'one', path: 'a.txt' } });
  await using other = await server.connect({ token: OTHER });
  const stream = await streamOf(url, OTHER);

  const changed = await server.reload(tokens(token('a', ROTATED, { roots: ['one', 'two'], tools: ['read_file'] })));
  expect(changed).toMatchObject({ tokens_removed: ['b'], tokens_changed: ['a'] });
  expect(JSON.stringify(server.log.lines())).not.toContain(sha256(ROTATED));
  await expect(call('list_roots')).rejects.toThrow(/401|Unauthorized/i);
  secret = ROTATED;
  const listed = (await call('list_roots')).structuredContent as { roots: { name: string }[] };
  expect(listed.roots.map(({ name }) => name)).toEqual(['one', 'two']);
  expect((await call('stat_file')).isError).toBe(true);
  expect((await call('read_file')).isError ?? false).toBe(false);

  await expect(read(other, 'one')).rejects.toThrow(/401|Unauthorized/i);
  expect(await stream.ended).toBe('ended');

  await server.reload(tokens(token('a', ROTATED), token('c', OTHER, { undo: 'all' })));
  await using added = await server.connect({ token: OTHER });
  expect(await names(added)).toEqual(['one']);
  await client.close();
});

/** Opens a session and its event stream, and resolves with what ends the stream. */
async function streamOf(url: string, token: string): Promise<{ readonly ended: Promise<string> }> {
  const accept = 'application/json, text/event-stream';
  const headers = { authorization: `Bearer ${token}`, accept, 'content-type': 'application/json' };
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '0' } };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
  const opened = await fetch(url, { method: 'POST', headers, body });
  await opened.text();
  const session = opened.headers.get('mcp-session-id') ?? '';
  const stream = await fetch(url, { headers: { ...headers, accept: 'text/event-stream', 'mcp-session-id': session } });
  expect(stream.status).toBe(200);
  return {
    ended: stream.text().then(
      () => 'ended',
      () => 'ended',
    ),
  };
}

test('a call that runs finishes in the root that it began with, which is closed after it', async () => {
  fs.mkdirSync(path.join(one, 'folder'));
  const config = { ...NO_JAIL, roots: [root('one', one, { confirm: ['remove_folder'] }), root('two', two)] };
  await using server = new ReloadableServer(config, {});
  const client = newClient('legacy', { capabilities: { elicitation: { form: {} } } });
  let asked: () => void = () => {};
  const question = new Promise<void>((resolve) => {
    asked = resolve;
  });
  let agree: () => void = () => {};
  const agreed = new Promise<void>((resolve) => {
    agree = resolve;
  });
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    asked();
    await agreed;
    const [field = ''] = Object.keys(
      (params as { requestedSchema: { properties: object } }).requestedSchema.properties,
    );
    return { action: 'accept', content: field === '' ? {} : { [field]: true } };
  });
  await using tools = await server.connect({ client });
  const removal = tools.call('remove_folder', { root: 'one', path: 'folder' });
  await question;
  await server.reload({ ...NO_JAIL, roots: [root('two', two)] });
  expect(await names(tools)).toEqual(['two']);
  expect(server.descriptors()).toContain(one);
  expect(fs.existsSync(path.join(one, 'folder'))).toBe(true);
  agree();
  const { isError, text } = await removal;
  expect([isError, text]).toEqual([false, expect.anything()]);
  expect(fs.existsSync(path.join(one, 'folder'))).toBe(false);
  await vi.waitFor(() => expect(server.descriptors()).not.toContain(one), 10_000);
});

test.each([
  ['not YAML', 'roots: ['],
  ['an unknown key', 'rots: []'],
  ['a root that does not exist', `roots: [{ name: one, path: /nowhere/at/all, allowed_tools: ["*"] }]`],
  ['an empty file', ''],
])('a config with %s is one line, and the old one stays entirely', async (_, broken) => {
  const config = { ...NO_JAIL, roots: [root('one', one)], log_level: 'info' };
  await using server = new ReloadableServer(config, {});
  await using client = await server.connect();
  const before = server.descriptors().filter((name) => name.startsWith(base));
  const line = await server.reload(broken);
  expect(line).toMatchObject({ level: 'error', msg: 'config not reloaded', problem: expect.stringContaining('yaml') });
  expect(await names(client)).toEqual(['one']);
  expect(server.descriptors().filter((name) => name.startsWith(base))).toEqual(before);
  expect(await server.reload({ ...config, roots: [root('two', two)] })).toMatchObject({ roots_added: ['two'] });
  expect(await names(client)).toEqual(['two']);
});

test('one root that cannot be opened keeps all of the new config from being served', async () => {
  await using server = new ReloadableServer({ ...NO_JAIL, roots: [root('one', one)] }, {});
  await using client = await server.connect();
  fs.writeFileSync(path.join(two, '.ringfence'), 'not a folder');
  const line = await server.reload({
    ...NO_JAIL,
    log_level: 'debug',
    roots: [root('one', one, { deny: ['a.txt'] }), root('two', two, { history: true })],
  });
  expect(line).toMatchObject({ msg: 'config not reloaded', problem: expect.stringContaining('history of root two') });
  expect(await names(client)).toEqual(['one']);
  expect((await read(client, 'one')).isError).toBe(false);
});

test('a rate limit holds for open sessions, and is lifted again', async () => {
  const config = { ...NO_JAIL, roots: [root('one', one)] };
  await using server = new ReloadableServer(config, {});
  await using client = await server.connect();
  for (let i = 0; i < 5; i += 1) expect((await read(client, 'one')).isError).toBe(false);
  const limited = { ...config, rate_limit: { calls_per_second: 0.01, burst: 1 }, max_full_read_size: 4 };
  expect(await server.reload(limited)).toMatchObject({ keys: ['max_full_read_size', 'rate_limit'] });
  await read(client, 'one');
  expect((await read(client, 'one')).text).toContain('rate limit');
  await server.reload(config);
  for (let i = 0; i < 5; i += 1) expect((await read(client, 'one')).isError).toBe(false);
});

test('keys that need a restart are named in one line, and the rest is applied', async () => {
  const config = { ...NO_JAIL, roots: [root('one', one)] };
  await using server = new ReloadableServer(config, {});
  await using client = await server.connect();
  const line = await server.reload({
    roots: [root('one', one), root('two', two), { name: 'laptop', agent: {}, allowed_tools: ['read_file'] }],
    port: 1,
    hardening: { landlock: 'auto' },
    dialects: { workspace: {}, memory: { root: 'one' } },
    limits: { memory: 100_000_000 },
    log_file: 'x.log',
    auth: { tokens: [{ name: 'a', sha256: sha256(SECRET), roots: ['one'] }] },
    log_level: 'debug',
  });
  expect(line).toMatchObject({ keys: ['log_level'], roots_added: ['two'] });
  const restart = await server.log.waitFor(({ msg }) => msg === 'config keys need a restart');
  expect(restart).toMatchObject({ level: 'warn' });
  expect(restart.keys.toSorted()).toEqual([
    'auth',
    'dialects',
    'hardening.landlock',
    'limits.memory',
    'log_file',
    'port',
    'roots.laptop.agent',
  ]);
  expect(await names(client)).toEqual(['one', 'two']);
});

test.skipIf(LANDLOCK_PROBLEM)(
  `a root outside the kernel's jail is one line, and the rest is applied${LANDLOCK_PROBLEM ? ` (skipped: ${LANDLOCK_PROBLEM})` : ''}`,
  async () => {
    const config = { hardening: { landlock: 'require' } };
    fs.mkdirSync(path.join(one, 'inner'));
    await using server = new ReloadableServer({ ...config, roots: [root('one', one, { read_only: true })] }, {});
    await using client = await server.connect();
    const line = await server.reload(
      {
        ...config,
        roots: [
          root('one', one, { deny: ['a.txt'] }),
          root('two', two),
          root('inner', path.join(one, 'inner'), { read_only: true }),
        ],
      },
      true,
    );
    expect(line).toMatchObject({ roots_added: ['inner'] });
    const refused = await server.log.waitFor(({ roots, level }) => level === 'warn' && roots !== undefined);
    expect(refused).toMatchObject({ roots: ['one', 'two'], msg: expect.stringContaining('restart') });
    expect(await names(client)).toEqual(['one', 'inner']);
    expect((await client.call('write_file', { root: 'one', path: 'n', content: '' })).isError).toBe(true);
    // Narrower rules need no wider jail.
    await server.reload({ ...config, roots: [root('one', one, { read_only: true, deny: ['a.txt'] })] }, true);
    expect((await read(client, 'one')).isError).toBe(true);
  },
);

test('a hundred reloads under calls leak neither descriptors nor memory', { timeout: 120_000 }, async () => {
  const config = (n: number) => ({
    ...NO_JAIL,
    roots: [root('one', one, { deny: [`gone-${n % 2}`], history: true }), ...(n % 3 ? [root('two', two)] : [])],
  });
  await using server = new ReloadableServer(config(0), {});
  await using client = await server.connect();
  let stopped = false;
  let calls = 0;
  const load = (async () => {
    while (!stopped) {
      expect((await read(client, 'one')).isError).toBe(false);
      expect((await client.call('edit_file', { root: 'one', path: 'a.txt', edits: [] })).text).toBeDefined();
      calls += 2;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  const reload = async (count: number): Promise<void> => {
    for (let n = 0; n < count; n += 1) await server.reload(config(n));
  };
  const settled = async () => {
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    return { fds: server.descriptors().length, rss: residentBytes(server.pid) };
  };
  await reload(20);
  const before = await settled();
  await reload(100);
  const after = await settled();
  stopped = true;
  await load;
  recordFigure('100 reloads: growth of resident memory', (after.rss - before.rss) / 1e6, 'MB');
  recordFigure('100 reloads: calls meanwhile', calls, 'calls');
  expect(after.fds - before.fds).toBeLessThanOrEqual(4);
  expect(after.rss - before.rss).toBeLessThan(40e6);
});

function residentBytes(pid: number): number {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1024;
}
