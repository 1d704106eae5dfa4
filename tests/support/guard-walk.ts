import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import type { BackendName } from '../../src/fence/index.ts';
import { GuardLayout, SECRET } from './guard-layout.ts';
import { InProcessServer } from './in-process-server.ts';
import type { Args } from './tool-client.ts';

type Walker = 'workspace' | 'memory' | 'classic';

const NAMES = [
  ...['.git', '.GIT', '.g\u200cit', 'hooks', 'Hooks', 'config', 'modules', 'inner', 'pre-commit', 'HEAD', 'index'],
  ...['.env', '.ENV', 'a.pem', 'A.PEM', 'key.pem', 'secret', 'SECRET', 'key.txt', 'only', 'dirs', 'more'],
  ...[
    '.ringfence',
    '.Ringfence',
    '.ringfence-tmp-x',
    'log',
    'dir',
    'deep',
    'sub',
    'fake',
    'ok.txt',
    'a.txt',
    'new',
    'x',
  ],
  ...[
    'to-env',
    'to-secret',
    'to-own',
    'to-git',
    'to-fake',
    'to-key',
    '.',
    '..',
    '',
    ' ',
    'secret ',
    '.env.',
    'secret\\key.txt',
  ],
];
/** Paths that lead somewhere, or that moves and copies could use to get past a rule. */
const PLACES = [
  ...['ok.txt', 'dir', 'dir/a.txt', 'dir/deep', 'sub', 'sub/code.txt', 'fake', 'fake/hooks', 'fake/hooks/pre-commit'],
  ...[
    '.git',
    '.git/HEAD',
    'sub/.git',
    'new',
    'new/.git',
    'new/hooks',
    'new/config',
    'x',
    'x/.git',
    'x/modules',
    'x/modules/hooks',
  ],
  ...[
    'only',
    'only/dirs',
    'only/new',
    'secret',
    'to-fake',
    'to-fake/hooks',
    'to-git',
    'to-git/HEAD',
    'to-secret',
    'new.pem',
  ],
];
const oddPath = fc
  .array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 4 })
  .chain((names) =>
    fc.constantFrom(names.join('/'), `./${names.join('/')}`, `dir/../${names.join('/')}`, `${names.join('/')}/`),
  );
const anyPath = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...PLACES) }, { weight: 1, arbitrary: oddPath });
const content = fc.constantFrom('plain text', 'made by a tool');
const w = { root: 'w' };

/** Calls of tools that make, change, move, remove or show something, with a path wherever one is taken. */
const CALLS: Readonly<Record<Walker, fc.Arbitrary<readonly [tool: string, args: Args]>>> = {
  workspace: fc.oneof(
    call('write_file', { path: anyPath, content, mode: fc.constantFrom('overwrite', 'append', 'create_only') }, w),
    call('edit_file', { path: anyPath }, { ...w, edits: [{ old_text: 't', new_text: 'T', replace_all: true }] }),
    call('create_folder', { path: anyPath }, w),
    call('remove_file', { path: anyPath }, w),
    call('remove_folder', { path: anyPath }, w),
    call('copy', { source_path: anyPath, dest_path: anyPath }, { source_root: 'w', dest_root: 'w' }),
    call('move', { source_path: anyPath, dest_path: anyPath }, { source_root: 'w', dest_root: 'w' }),
    call('move', { source_path: anyPath, dest_path: anyPath }, { source_root: 'w', dest_root: 'other' }),
    call('move', { source_path: anyPath, dest_path: anyPath }, { source_root: 'other', dest_root: 'w' }),
    call('copy', { source_path: anyPath, dest_path: anyPath }, { source_root: 'w', dest_root: 'other' }),
    call('read_file', { path: anyPath }, w),
    call('list_folder', { path: anyPath, depth: fc.constantFrom(1, 4) }, w),
    call('grep', { path: anyPath }, { ...w, pattern: 'SECRET' }),
    call('glob', { path: anyPath }, { ...w, pattern: '**' }),
  ),
  memory: fc.oneof(
    call('create', { path: anyPath, content }, { encoding: 'utf-8' }),
    call('view', { path: anyPath }),
    call('str_replace', { path: anyPath }, { old_str: 'plain', new_str: 'PLAIN' }),
    call('insert', { path: anyPath }, { insert_line: 1, new_str: 'x' }),
    call('delete', { path: anyPath }),
    call('rename', { old_path: anyPath, new_path: anyPath }),
  ),
  classic: fc.oneof(
    call('write', {
      path: anyPath,
      content,
      make_dirs: fc.boolean(),
      mode: fc.constantFrom('overwrite', 'append', 'create'),
    }),
    call('mkdir', { path: anyPath, recursive: fc.boolean() }),
    call('delete', { path: anyPath, recursive: fc.boolean() }),
    call('copy', { source: anyPath, destination: anyPath, recursive: fc.boolean() }),
    call('move', { source: anyPath, destination: anyPath }),
    call('read', { path: anyPath }),
    call('list', { path: anyPath, recursive: fc.boolean() }),
    call('search', { root_path: anyPath }, { pattern: 'SECRET' }),
    call('info', { path: anyPath }),
  ),
};

function call(tool: string, args: Record<string, fc.Arbitrary<unknown>>, fixed: Args = {}) {
  return fc.record(args).map((given) => [tool, { ...given, ...fixed }] as const);
}

/** What random calls have shown. */
export interface WalkFigures {
  readonly calls: number;
  readonly succeeded: number;
  /** The tools that never succeeded: they were not tried in earnest. */
  readonly unused: readonly string[];
}

/**
 * Calls the tools of a dialect at random, some after another on one tree, and throws if an answer shows a secret, or if an entry that
 * is denied or protected by its place was made, changed or removed.
 */
export async function walkGuards(dialect: Walker, options: { fence: BackendName; runs: number }): Promise<WalkFigures> {
  using layout = new GuardLayout();
  const before = guardedEntries(layout.host());
  await using server = new InProcessServer({
    dialect,
    config: layout.config(),
    boundRoot: dialect === 'workspace' ? undefined : 'w',
    fence: options.fence,
  });
  let calls = 0;
  const tools = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(fc.array(CALLS[dialect], { minLength: 1, maxLength: 12 }), async (steps) => {
      layout.reset();
      for (const [tool, args] of steps) {
        const { text, isError } = await server.call(tool as never, args);
        assert(!text.includes(SECRET), `${tool} shows: ${text.slice(0, 300)}`);
        calls += 1;
        tools.set(tool, (tools.get(tool) ?? 0) + (isError ? 0 : 1));
      }
      assert.deepEqual(guardedEntries(layout.host()), before);
      assert(!holdsSecret(path.join(layout.base, 'other')), 'a secret got into another root');
    }),
    { numRuns: options.runs },
  );
  const succeeded = [...tools.values()].reduce((sum, count) => sum + count, 0);
  return { calls, succeeded, unused: [...tools.keys()].filter((tool) => tools.get(tool) === 0) };
}

/** Everything below a folder that is guarded by its own path, with its content, decided without the code under test. */
function guardedEntries(top: string): string[] {
  return fs
    .readdirSync(top, { recursive: true, withFileTypes: true })
    .flatMap((entry) => {
      const host = path.join(entry.parentPath, entry.name);
      const name = path.relative(top, host);
      const isOddRepository = entry.name === '.git' && !entry.isDirectory();
      if (!isGuarded(name, entry.isDirectory()) && !isOddRepository) return [];
      return [`${name} ${entry.isFile() ? fs.readFileSync(host, 'utf8') : entry.isDirectory() ? '/' : '->'}`];
    })
    .sort();
}

function isGuarded(name: string, isFolder: boolean): boolean {
  return (
    /(^|\/)(\.env|\.ringfence|[^/]*\.pem)(\/|$)/.test(name) ||
    /^secret(\/|$)/.test(name) ||
    (/^only\/dirs$/.test(name) ? isFolder : /^only\/dirs\//.test(name)) ||
    /(^|\/)\.git\/(modules\/(.*\/)?)?(hooks|config)(\/|$)/.test(name)
  );
}

function holdsSecret(top: string): boolean {
  return fs
    .readdirSync(top, { recursive: true, withFileTypes: true })
    .some(
      (entry) => entry.isFile() && fs.readFileSync(path.join(entry.parentPath, entry.name), 'utf8').includes(SECRET),
    );
}
