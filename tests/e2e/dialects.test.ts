import fs from 'node:fs';
import path from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { treeOf } from '../../src/fence/sandbox.fixture.ts';
import {
  type CallResult,
  callTool,
  connectHttp,
  type Era,
  type LogLine,
  type Ringfence,
  startRingfence,
  tempDir,
} from '../support/server.ts';

const ERAS: readonly Era[] = ['legacy', 'modern'];
const MOUNTS = ['/mcp', '/mcp/memory', '/mcp/classic'] as const;
const READING = ['read_file', 'list_folder', 'stat_file', 'grep'];

const base = tempDir('ringfence-dialects-');
const notes = path.join(base, 'notes');
const reference = path.join(base, 'reference');
/** All three on a root that allows everything, the same on one that allows reading, and two without workspace. */
let open: Ringfence;
let locked: Ringfence;
let bound: Ringfence;

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
    startRingfence({ roots, config: { durable_writes: false, dialects: all('notes') } }),
    startRingfence({ roots, config: { dialects: all('reference') } }),
    startRingfence({ roots, config: { dialects: { classic: { root: 'reference' }, memory: { root: 'notes' } } } }),
  ]);
});

afterAll(async () => {
  for (const server of [open, locked, bound]) await server[Symbol.asyncDispose]();
  fs.rmSync(base, { recursive: true, force: true });
});

const at = (server: Ringfence, mount: string): string => new URL(mount, server.url).href;

async function connected<T>(
  server: Ringfence,
  mount: string,
  era: Era,
  use: (client: Client) => Promise<T>,
): Promise<T> {
  const client = await connectHttp(at(server, mount), era);
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

type Args = Readonly<Record<string, unknown>>;

async function ok(client: Client, tool: string, args: Args): Promise<CallResult['structured']> {
  const { isError, text, structured } = await callTool(client, { tool, args });
  if (isError) throw new Error(`${tool} failed: ${text}`);
  return structured;
}

async function refused(client: Client, tool: string, args: Args): Promise<string> {
  const { isError, text, structured } = await callTool(client, { tool, args });
  if (!isError || structured !== undefined) throw new Error(`${tool} was not refused: ${text}`);
  return text;
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
      MOUNTS.map((mount) =>
        connected(open, mount, era, async (client) => {
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
    await connected(open, '/mcp/memory', era, (client) =>
      ok(client, 'create', { path: name, content: 'one\n', encoding: 'utf-8' }),
    );
    await connected(open, '/mcp/classic', era, (client) =>
      ok(client, 'write', { path: name, content: 'two\n', mode: 'append' }),
    );
    const read = await connected(open, '/mcp', era, (client) => ok(client, 'read_file', { root: 'notes', path: name }));
    expect(read.content).toBe('one\ntwo\n');
    await connected(open, '/mcp/memory', era, async (client) => {
      await expect(callTool(client, { tool: 'read_file', args: { path: name } })).rejects.toMatchObject({
        code: -32602,
      });
    });
  });

  test('a dialect reaches no root but its own', async () => {
    await connected(open, '/mcp/memory', era, async (client) => {
      expect(JSON.parse(await refused(client, 'view', { path: '../reference/docs/a.md' }))).toMatchObject({
        code: 'path_security',
      });
      expect(JSON.parse(await refused(client, 'view', { path: 'docs/a.md' }))).toMatchObject({
        code: 'file_not_found',
      });
    });
  });

  describe('DESIGN §6: a root that allows reading is read-only', () => {
    const denied = { root: 'reference', outcome: 'error', code: 'tool_not_allowed', level: 'warn' };

    /** Makes the calls, each of which has to be refused in that way, and expects nothing to have changed. */
    async function allRefused(mount: string, calls: readonly [string, Args][], expected: object): Promise<void> {
      const before = snapshot();
      const lines = await logged(locked, () =>
        connected(locked, mount, era, async (client) => {
          for (const [tool, args] of calls) {
            expect([tool, JSON.parse(await refused(client, tool, args))]).toMatchObject([tool, expected]);
          }
        }),
      );
      expect(snapshot()).toEqual(before);
      expect(lines).toMatchObject(
        calls.map(([tool, args]) => {
          const about = args.path ?? args.old_path ?? args.source;
          return { ...denied, dialect: mount.slice('/mcp/'.length), tool, path: about, attempted_path: about };
        }),
      );
    }

    test('in memory', async () => {
      await connected(locked, '/mcp/memory', era, async (client) => {
        expect(await ok(client, 'view', { path: 'docs/a.md' })).toMatchObject({ content: 'alpha\nbeta\n' });
        expect(await ok(client, 'view', { path: 'docs' })).toMatchObject({ entries: ['a.md', 'empty'] });
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
      await allRefused('/mcp/memory', calls, {
        code: 'permission_denied',
        message: expect.stringMatching(/^Permission denied/),
      });
    });

    test('in classic', async () => {
      await connected(locked, '/mcp/classic', era, async (client) => {
        expect((await ok(client, 'read', { path: 'docs/a.md' })).content).toBe('alpha\nbeta\n');
        expect((await ok(client, 'list', { path: '.', recursive: true })).entries).toHaveLength(3);
        expect(await ok(client, 'info', { path: 'docs' })).toMatchObject({ exists: true, type: 'directory' });
        expect(await ok(client, 'search', { root_path: '.', pattern: 'beta' })).toMatchObject({ total_matches: 1 });
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
      await allRefused('/mcp/classic', calls, {
        error: { code: 'permission_denied', message: 'Permission denied to access the specified path' },
      });
    });

    test('in workspace', async () => {
      const before = snapshot();
      const one = { root: 'reference', path: 'docs/a.md' };
      const two = { source_root: 'reference', source_path: 'docs/a.md', dest_root: 'reference', dest_path: 'b.md' };
      const calls: [string, Args][] = [
        ['write_file', { ...one, content: 'x' }],
        ['patch_file', { ...one, patch: '@@ -1 +1 @@\n-alpha\n+x\n' }],
        ['remove_file', one],
        ['create_folder', { root: 'reference', path: 'new' }],
        ['remove_folder', { root: 'reference', path: 'docs' }],
        ['copy', two],
        ['move', two],
      ];
      await connected(locked, '/mcp', era, async (client) => {
        expect((await ok(client, 'read_file', one)).content).toBe('alpha\nbeta\n');
        for (const [tool, args] of calls) {
          expect(await refused(client, tool, args)).toContain(`tool ${tool} not allowed on root reference`);
        }
      });
      expect(snapshot()).toEqual(before);
    });
  });

  test('one line in the log for each call, which names dialect, tool, root and both ends', async () => {
    const [a, b, c] = ['a', 'b', 'c'].map((name) => `${name}-${era}.md`);
    const lines = await logged(open, async () => {
      await connected(open, '/mcp/memory', era, async (client) => {
        await ok(client, 'create', { path: a, content: 'logged-nowhere', encoding: 'utf-8' });
        await ok(client, 'rename', { old_path: a, new_path: b });
        await refused(client, 'rename', { old_path: b, new_path: '../out.md' });
      });
      await connected(open, '/mcp/classic', era, async (client) => {
        await ok(client, 'copy', { source: b, destination: c });
        await ok(client, 'move', { source: c, destination: 'moved/c.md', overwrite: true });
        await refused(client, 'copy', { source: '/etc/passwd', destination: c });
        await ok(client, 'search', { root_path: 'moved', pattern: 'logged' });
      });
      await connected(open, '/mcp', era, async (client) => {
        const ends = { source_root: 'notes', source_path: b, dest_root: 'notes', dest_path: c };
        await ok(client, 'copy', ends);
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
async function logged(server: Ringfence, calls: () => Promise<unknown>): Promise<LogLine[]> {
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
  await using alone = await startRingfence({ roots: [{ name: 'notes', path: notes }] });
  const answer = await fetch(at(alone, '/mcp/memory'), { method: 'POST', body: '{}' });
  expect(await answer.json()).toMatchObject({ error: { message: 'Not found: MCP is served at /mcp' } });
});

test('a client can be told which path to use', async () => {
  await using rf = await startRingfence({
    roots: [{ name: 'notes', path: notes }],
    config: { dialects: { workspace: {}, memory: { root: 'notes' } } },
    path: '/mcp/memory',
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
    MOUNTS.map(async (mount) => {
      const answer = await post(mount, { method: 'tools/list' }, session);
      await answer.text();
      return answer.status;
    }),
  );
  expect(statuses).toEqual([404, 200, 404]);
  const ended = await fetch(at(open, '/mcp'), { method: 'DELETE', headers: { ...headers, ...session } });
  expect(ended.status).toBe(404);
  expect((await post('/mcp/memory', { method: 'tools/list' }, session)).status).toBe(200);
});
