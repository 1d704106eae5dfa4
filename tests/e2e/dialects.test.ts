import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { treeOf } from '../../src/fence/sandbox.fixture.ts';
import { ERAS, type Era } from '../support/connections.ts';
import type { DialectName } from '../support/dialect-contracts.ts';
import type { LogLine } from '../support/ringfence-process.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';
import { type Args, mountOf, type ToolClient } from '../support/tool-client.ts';

const DIALECTS = ['workspace', 'memory', 'classic'] as const;
const READING = ['read_file', 'list_folder', 'stat_file', 'grep'];

const base = tempDir('ringfence-dialects-');
const notes = path.join(base, 'notes');
const reference = path.join(base, 'reference');
/** All three on a root that allows everything, the same on one that allows reading, and two without workspace. */
let open: TestServer;
let locked: TestServer;
let bound: TestServer<'memory'>;

beforeAll(async () => {
  fs.mkdirSync(notes);
  fs.mkdirSync(path.join(reference, 'docs', 'empty'), { recursive: true });
  fs.writeFileSync(path.join(reference, 'docs', 'a.md'), 'alpha\nbeta\n');
  const roots = [
    { name: 'notes', path: notes },
    { name: 'reference', path: reference, allowed_tools: READING },
  ];
  const all = (root: string) => ({ workspace: {}, memory: { root }, classic: { root } });
  [open, locked, bound] = await Promise.all([
    startServer({ roots, config: { durable_writes: false, dialects: all('notes') } }),
    startServer({ roots, config: { dialects: all('reference') } }),
    startServer({
      dialect: 'memory',
      roots,
      config: { dialects: { classic: { root: 'reference' }, memory: { root: 'notes' } } },
    }),
  ]);
});

afterAll(async () => {
  for (const server of [open, locked, bound]) await server[Symbol.asyncDispose]();
  fs.rmSync(base, { recursive: true, force: true });
});

const at = (server: Pick<TestServer, 'url'>, mount: string): string => new URL(mount, server.url).href;

/** Connects a client to one dialect of a server for as long as it is used. */
async function connected<D extends DialectName, T>(
  server: TestServer,
  dialect: D,
  era: Era,
  use: (client: ToolClient<D>) => Promise<T>,
): Promise<T> {
  await using client = await server.connect({ dialect, era });
  return await use(client);
}

/** Names, contents, modes and times of all that is in the read-only root. */
function snapshot(): string[] {
  return treeOf(reference).map((name) => {
    const host = path.join(reference, name);
    const { mode, mtimeMs } = fs.statSync(host);
    return `${name} ${mode} ${mtimeMs} ${name.endsWith('/') ? '' : fs.readFileSync(host, 'utf8')}`;
  });
}

describe.each(ERAS)('DESIGN §6: a %s client over HTTP', (era) => {
  test('finds at each path its dialect’s server and tools', async () => {
    const seen = await Promise.all(
      DIALECTS.map((dialect) =>
        connected(open, dialect, era, async ({ client }) => {
          const { tools } = await client.listTools();
          return [client.getServerVersion()?.name, tools.map(({ name }) => name).sort()];
        }),
      ),
    );
    expect(seen).toEqual([
      ['mcp-filesystem', expect.arrayContaining(['list_roots', 'read_file', 'patch_file'])],
      ['file-storage-backend', ['create', 'delete', 'insert', 'rename', 'str_replace', 'view']],
      ['filesystem-server', ['copy', 'delete', 'info', 'list', 'mkdir', 'move', 'read', 'search', 'write']],
    ]);
  });

  test('sees through one dialect what it wrote through another', async () => {
    const name = `shared-${era}.md`;
    await connected(open, 'memory', era, (client) =>
      client.ok('create', { path: name, content: 'one\n', encoding: 'utf-8' }),
    );
    await connected(open, 'classic', era, (client) =>
      client.ok('write', { path: name, content: 'two\n', mode: 'append' }),
    );
    const read = await connected(open, 'workspace', era, (client) =>
      client.ok('read_file', { root: 'notes', path: name }),
    );
    expect(read.content).toBe('one\ntwo\n');
    await connected(open, 'memory', era, async (client) => {
      await expect(client.call('read_file', { path: name })).rejects.toMatchObject({
        code: -32602,
      });
    });
  });

  test('a dialect reaches no root but its own', async () => {
    await connected(open, 'memory', era, async (client) => {
      expect(await client.fails('view', { path: '../reference/docs/a.md' })).toMatchObject({
        code: 'path_security',
      });
      expect(await client.fails('view', { path: 'docs/a.md' })).toMatchObject({
        code: 'file_not_found',
      });
    });
  });

  describe('DESIGN §6: a root that allows reading is read-only', () => {
    const denied = { root: 'reference', outcome: 'error', code: 'tool_not_allowed', level: 'warn' };

    /** Makes the calls, each of which has to be refused in that way, and expects nothing to have changed. */
    async function allRefused(
      dialect: 'memory' | 'classic',
      calls: readonly [string, Args][],
      expected: object,
    ): Promise<void> {
      const before = snapshot();
      const lines = await logged(locked, () =>
        connected(locked, dialect, era, async (client) => {
          for (const [tool, args] of calls) {
            expect([tool, await client.fails(tool, args)]).toMatchObject([tool, expected]);
          }
        }),
      );
      expect(snapshot()).toEqual(before);
      expect(lines).toMatchObject(
        calls.map(([tool, args]) => {
          const about = args.path ?? args.old_path ?? args.source;
          return { ...denied, dialect, tool, path: about, attempted_path: about };
        }),
      );
    }

    test('in memory', async () => {
      await connected(locked, 'memory', era, async (client) => {
        expect(await client.ok('view', { path: 'docs/a.md' })).toMatchObject({ content: 'alpha\nbeta\n' });
        expect(await client.ok('view', { path: 'docs' })).toMatchObject({ entries: ['a.md', 'empty'] });
      });
      const calls: [string, Args][] = [
        ['create', { path: 'new.md', content: 'x', encoding: 'utf-8' }],
        ['create', { path: 'docs/a.md', content: 'x', encoding: 'utf-8' }],
        ['str_replace', { path: 'docs/a.md', old_str: 'alpha', new_str: 'x' }],
        ['insert', { path: 'docs/a.md', insert_line: 1, new_str: 'x' }],
        ['delete', { path: 'docs/a.md' }],
        ['delete', { path: 'docs/empty' }],
        ['rename', { old_path: 'docs/a.md', new_path: 'b.md' }],
      ];
      await allRefused('memory', calls, {
        code: 'permission_denied',
        message: expect.stringMatching(/^Permission denied/),
      });
    });

    test('in classic', async () => {
      await connected(locked, 'classic', era, async (client) => {
        expect((await client.ok('read', { path: 'docs/a.md' })).content).toBe('alpha\nbeta\n');
        expect((await client.ok('list', { path: '.', recursive: true })).entries).toHaveLength(3);
        expect(await client.ok('info', { path: 'docs' })).toMatchObject({ exists: true, type: 'directory' });
        expect(await client.ok('search', { root_path: '.', pattern: 'beta' })).toMatchObject({ total_matches: 1 });
      });
      const calls: [string, Args][] = [
        ['write', { path: 'new.md', content: 'x' }],
        ['write', { path: 'docs/a.md', content: 'x', mode: 'append' }],
        ['write', { path: 'a/b', content: 'x', mode: 'create', make_dirs: true }],
        ['mkdir', { path: 'new' }],
        ['delete', { path: 'docs/a.md' }],
        ['delete', { path: 'docs', recursive: true, force: true }],
        ['copy', { source: 'docs/a.md', destination: 'b.md' }],
        ['copy', { source: 'docs', destination: 'more' }],
        ['move', { source: 'docs/a.md', destination: 'b.md' }],
      ];
      await allRefused('classic', calls, {
        code: 'permission_denied',
        message: 'Permission denied to access the specified path',
      });
    });

    test('in workspace', async () => {
      const before = snapshot();
      const one = { root: 'reference', path: 'docs/a.md' };
      const two = { source_root: 'reference', source_path: 'docs/a.md', dest_root: 'reference', dest_path: 'b.md' };
      const calls: [string, Args][] = [
        ['write_file', { ...one, content: 'x' }],
        ['patch_file', { ...one, patch: '@@ -1 +1 @@\n-alpha\n+x\n' }],
        ['edit_file', { ...one, old_text: 'alpha', new_text: 'x' }],
        ['remove_file', one],
        ['create_folder', { root: 'reference', path: 'new' }],
        ['remove_folder', { root: 'reference', path: 'docs' }],
        ['copy', two],
        ['move', two],
      ];
      await connected(locked, 'workspace', era, async (client) => {
        expect((await client.ok('read_file', one)).content).toBe('alpha\nbeta\n');
        for (const [tool, args] of calls) {
          expect(await client.fails(tool, args)).toContain(`tool ${tool} not allowed on root reference`);
        }
      });
      expect(snapshot()).toEqual(before);
    });
  });

  test('one line in the log for each call, which names dialect, tool, root and both ends', async () => {
    const [a, b, c] = ['a', 'b', 'c'].map((name) => `${name}-${era}.md`);
    const lines = await logged(open, async () => {
      await connected(open, 'memory', era, async (client) => {
        await client.ok('create', { path: a, content: 'logged-nowhere', encoding: 'utf-8' });
        await client.ok('rename', { old_path: a, new_path: b });
        await client.fails('rename', { old_path: b, new_path: '../out.md' });
      });
      await connected(open, 'classic', era, async (client) => {
        await client.ok('copy', { source: b, destination: c });
        await client.ok('move', { source: c, destination: 'moved/c.md', overwrite: true });
        await client.fails('copy', { source: '/etc/passwd', destination: c });
        await client.ok('search', { root_path: 'moved', pattern: 'logged' });
      });
      await connected(open, 'workspace', era, async (client) => {
        const ends = { source_root: 'notes', source_path: b, dest_root: 'notes', dest_path: c };
        await client.ok('copy', ends);
      });
    });
    const memory = { dialect: 'memory', root: 'notes', level: 'info' };
    const classic = { dialect: 'classic', root: 'notes', level: 'info' };
    expect(lines).toMatchObject([
      { ...memory, tool: 'create', path: a, outcome: 'success' },
      { ...memory, tool: 'rename', path: a, old_path: a, new_path: b },
      { ...memory, tool: 'rename', path: b, new_path: '../out.md', attempted_path: '../out.md', level: 'warn' },
      { ...classic, tool: 'copy', path: b, source: b, destination: c },
      { ...classic, tool: 'move', path: c, source: c, destination: 'moved/c.md' },
      { ...classic, tool: 'copy', path: '/etc/passwd', attempted_path: '/etc/passwd', level: 'warn' },
      { ...classic, tool: 'search', path: 'moved' },
      { dialect: 'workspace', tool: 'copy', root: 'notes', path: b, dest_path: c },
    ]);
    expect(open.stderr()).not.toContain('logged-nowhere');
    expect(open.stderr()).not.toContain(notes);
  });
});

let marks = 0;

/** The lines in the log of the calls that are made meanwhile: those between two calls of tools that there are not. */
async function logged(server: TestServer, calls: () => Promise<unknown>): Promise<LogLine[]> {
  const mark = async (): Promise<string> => {
    marks += 1;
    const tool = `mark-${marks}`;
    await expect(server.call(tool)).rejects.toMatchObject({ code: -32602 });
    return tool;
  };
  const first = await mark();
  await calls();
  const last = await mark();
  await server.waitForLog(({ tool }) => tool === last);
  const lines = server.logs().filter(({ tool }) => tool !== undefined);
  const place = (mark: string) => lines.findIndex(({ tool }) => tool === mark);
  return lines.slice(place(first) + 1, place(last));
}

test('the start is logged with all dialects and where they are served', async () => {
  const start = await bound.waitForLog(({ msg }) => msg === 'listening');
  expect(start).toMatchObject({ dialects: ['memory', 'classic'], roots: ['notes', 'reference'] });
  expect(start.urls).toEqual([at(bound, '/mcp/memory'), at(bound, '/mcp/classic')]);
});

test('a dialect that is not listed is not served, and the answer names those that are', async () => {
  for (const where of ['/mcp', '/mcp/', '/mcp/workspace', '/mcp/guide', '/', '/mcp/memory/']) {
    const answer = await fetch(at(bound, where), { method: 'POST', body: '{}' });
    expect([where, answer.status]).toEqual([where, 404]);
    expect(await answer.json()).toMatchObject({
      error: { message: 'Not found: MCP is served at /mcp/memory, /mcp/classic' },
    });
  }
  await using alone = await startServer({ roots: [{ name: 'notes', path: notes }] });
  const answer = await fetch(at(alone, '/mcp/memory'), { method: 'POST', body: '{}' });
  expect(await answer.json()).toMatchObject({ error: { message: 'Not found: MCP is served at /mcp' } });
});

test('a client can be told which path to use', async () => {
  await using rf = await startServer({
    roots: [{ name: 'notes', path: notes }],
    config: { dialects: { workspace: {}, memory: { root: 'notes' } } },
    dialect: 'memory',
  });
  expect((await rf.call('view', { path: '.' })).structured.type).toBe('directory');
});

test('a session of one path is not valid at another', async () => {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const post = (mount: string, message: object, more: Record<string, string> = {}) =>
    fetch(at(open, mount), {
      method: 'POST',
      headers: { ...headers, ...more },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
    });
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '0' } };
  const opened = await post('/mcp/memory', { method: 'initialize', params });
  await opened.text();
  const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
  const statuses = await Promise.all(
    DIALECTS.map(async (dialect) => {
      const answer = await post(mountOf(dialect), { method: 'tools/list' }, session);
      await answer.text();
      return answer.status;
    }),
  );
  expect(statuses).toEqual([404, 200, 404]);
  const ended = await fetch(at(open, '/mcp'), { method: 'DELETE', headers: { ...headers, ...session } });
  expect(ended.status).toBe(404);
  expect((await post('/mcp/memory', { method: 'tools/list' }, session)).status).toBe(200);
});
