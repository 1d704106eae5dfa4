import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { DialectName } from '../support/dialect-contracts.ts';
import { cannotRunGluster } from '../support/gluster-volume.ts';
import { noRedis } from '../support/redis.ts';
import { startReplicas } from '../support/replicas.ts';
import { startServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';
import type { Args, ToolClient } from '../support/tool-client.ts';

const reason = cannotRunGluster ?? noRedis;
const DIALECTS = ['workspace', 'memory', 'classic'] as const;
type Served = (typeof DIALECTS)[number];

const s = { root: 'shared' };
const ends = (source_path: string, dest_path: string): Args => ({
  source_root: 'shared',
  source_path,
  dest_root: 'shared',
  dest_path,
});

/** Calls of every tool, in an order in which one needs what another has done. A tool without a call fails the test. */
const STEPS: readonly (readonly [dialect: Served, tool: string, args: Args])[] = [
  ['workspace', 'list_roots', {}],
  ['workspace', 'create_folder', { ...s, path: 'a/b' }],
  ['workspace', 'create_folder', { ...s, path: 'a/b' }],
  ['workspace', 'write_file', { ...s, path: 'a/f.txt', content: 'one\ntwo\n', mode: 'create_only' }],
  ['workspace', 'write_file', { ...s, path: 'a/f.txt', content: 'again', mode: 'create_only' }],
  ['workspace', 'write_file', { ...s, path: 'a/f.txt', content: 'three\n', mode: 'append' }],
  ['workspace', 'write_file', { ...s, path: 'new/log', content: 'begun\n', mode: 'append' }],
  ['workspace', 'edit_file', { ...s, path: 'a/f.txt', old_text: 'two', new_text: 'TWO' }],
  ['workspace', 'edit_file', { ...s, path: 'a/f.txt', old_text: 'two', new_text: 'TWO' }],
  ['workspace', 'patch_file', { ...s, path: 'a/f.txt', patch: '@@ -1 +1 @@\n-one\n+ONE\n' }],
  ['workspace', 'read_file', { ...s, path: 'a/f.txt' }],
  ['workspace', 'read_files', { ...s, pattern: '**/*.txt' }],
  ['workspace', 'hash_file', { ...s, path: 'a/f.txt', algorithm: 'sha256' }],
  ['workspace', 'stat_file', { ...s, path: 'a/f.txt' }],
  ['workspace', 'permissions_file', { ...s, path: 'a/f.txt' }],
  ['workspace', 'grep', { ...s, pattern: 'T[Ww]' }],
  ['workspace', 'glob', { ...s, pattern: '**' }],
  ['workspace', 'copy', ends('a/f.txt', 'a/copy.txt')],
  ['workspace', 'copy', ends('a', 'c')],
  ['workspace', 'copy', ends('a', 'c')],
  ['workspace', 'move', ends('a/copy.txt', 'a/b/moved.txt')],
  ['workspace', 'move', ends('c', 'd')],
  ['workspace', 'list_folder', { ...s, path: '', depth: 5 }],
  ['workspace', 'remove_file', { ...s, path: 'd/f.txt' }],
  ['workspace', 'remove_folder', { ...s, path: 'd' }],
  ['workspace', 'read_file', { ...s, path: '../outside' }],
  ['memory', 'create', { path: 'm/f.txt', content: 'one\n', encoding: 'utf-8' }],
  ['memory', 'str_replace', { path: 'm/f.txt', old_str: 'one', new_str: 'two' }],
  ['memory', 'insert', { path: 'm/f.txt', insert_line: 1, new_str: 'zero' }],
  ['memory', 'view', { path: 'm/f.txt' }],
  ['memory', 'rename', { old_path: 'm/f.txt', new_path: 'm/n/g.txt' }],
  ['memory', 'delete', { path: 'm/n' }],
  ['classic', 'mkdir', { path: 'k/l' }],
  ['classic', 'write', { path: 'k/f.txt', content: 'one\n', mode: 'create' }],
  ['classic', 'write', { path: 'k/f.txt', content: 'two\n', mode: 'append' }],
  ['classic', 'read', { path: 'k/f.txt' }],
  ['classic', 'copy', { source: 'k/f.txt', destination: 'k/g.txt' }],
  ['classic', 'move', { source: 'k/g.txt', destination: 'k/l/g.txt' }],
  ['classic', 'search', { root_path: '.', pattern: 'two' }],
  ['classic', 'list', { path: 'k', recursive: true }],
  ['classic', 'info', { path: 'k/f.txt' }],
  ['classic', 'delete', { path: 'k', recursive: true }],
];

test.skipIf(reason !== undefined)(
  `every tool answers on GlusterFS what it answers on a local disk, each call at the other replica (${reason ?? 'two mounts'})`,
  { timeout: 180_000 },
  async () => {
    const config = { dialects: { workspace: {}, memory: { root: 'shared' }, classic: { root: 'shared' } } };
    await using replicas = await startReplicas({ config });
    const folder = tempDir('ringfence-local-');
    await using local = await startServer({ roots: [{ name: 'shared', path: folder }], config });
    const [alone, ...both] = await Promise.all([local, ...replicas.servers].map((server) => clientsOf(server)));
    for (const [at, [dialect, tool, args]] of STEPS.entries()) {
      const [expected, answer] = await Promise.all(
        [alone, both[at % both.length]].map((clients) => clients?.[dialect].call(tool, args)),
      );
      expect([tool, args, comparable(answer?.structured ?? answer?.text)]).toEqual([
        tool,
        args,
        comparable(expected?.structured ?? expected?.text),
      ]);
    }
    for (const dialect of DIALECTS) {
      const { tools } = (await alone?.[dialect].client.listTools()) ?? { tools: [] };
      const called = new Set(STEPS.filter(([of]) => of === dialect).map(([, tool]) => tool));
      expect([dialect, tools.map(({ name }) => name).sort()]).toEqual([dialect, [...called].sort()]);
    }
    // Nothing is left but what the calls have made, on no machine.
    for (const mount of replicas.volume.mounts) expect(treeOf(mount)).toEqual(treeOf(folder));
    fs.rmSync(folder, { recursive: true });
  },
);

async function clientsOf(server: {
  connect<D extends DialectName>(options: { dialect: D }): Promise<ToolClient<D>>;
}): Promise<Record<Served, ToolClient<Served>>> {
  const clients = await Promise.all(DIALECTS.map(async (dialect) => [dialect, await server.connect({ dialect })]));
  return Object.fromEntries(clients);
}

/** An answer without what differs from disk to disk: times, versions, and the size of a folder. */
function comparable(answer: unknown): unknown {
  return JSON.parse(JSON.stringify(answer), (key, value) => {
    // Not every file system knows when a file was created.
    if (/^created(_at|_time)?$/.test(key)) return undefined;
    if (/^(modified|accessed|version|mtime|ctime|.*_at|.*_time)$/.test(key)) return typeof value;
    if (key === 'size' && value === 4096) return 'folder';
    return value;
  });
}

function treeOf(folder: string): string[] {
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .sort();
}
