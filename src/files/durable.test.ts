import fs from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { Dir, ensureHostFolder } from '../fence/index.ts';
import { OpenFile } from '../fence/open-file.ts';
import { memory, onEveryBackend, type Sandbox } from '../fence/sandbox.fixture.ts';
import { DEFAULT_CONTEXT } from '../runtime/operation-context.ts';
import { copy } from './copy/copy.ts';
import { move } from './copy/move.ts';
import { writeFetchedFolder } from './copy/write-fetched.ts';
import { patchFile } from './edit/edit-file.ts';
import { removeEntry, removeFile } from './remove/remove-entry.ts';
import { removeFolder } from './remove/remove-folder.ts';
import { makeFolder } from './write/make-folder.ts';
import { writeFile } from './write/write-file.ts';

interface Durable {
  readonly durable: boolean;
}

const TEXT = Buffer.from('text');
const CREATING_PATCH = '--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+new\n';
const FETCHED = { folders: [['x']], files: [{ names: ['x', 'y'], bytes: TEXT }] };

/**
 * Operations on a sandbox with a file `f` and a folder `d`, each with the folders that have a name added or removed.
 */
const OPERATIONS: readonly [string, (box: Sandbox, options: Durable) => Promise<unknown>, readonly string[]][] = [
  ['write', (b, o) => writeFile(b.root, b.at('a/b/g').path, TEXT, o), ['', 'a', 'a/b']],
  ['create', (b, o) => writeFile(b.root, b.at('a/g').path, TEXT, { ...o, mode: 'create_only' }), ['', 'a']],
  ['append', (b, o) => writeFile(b.root, b.at('a/b/g').path, TEXT, { ...o, mode: 'append' }), ['', 'a', 'a/b']],
  ['patch', (b, o) => patchFile(b.root, b.at('a/b/g').path, CREATING_PATCH, o), ['', 'a', 'a/b']],
  ['make folders', (b, o) => makeFolder(b.root, b.at('a/b/c').path, o), ['', 'a', 'a/b']],
  ['copy a file', (b, o) => copy(b.at('f'), b.at('a/b/g'), o), ['', 'a', 'a/b']],
  ['copy a folder', (b, o) => copy(b.at('d'), b.at('a/b/e'), o), ['', 'a', 'a/b', 'a/b/HIDDEN', 'a/b/HIDDEN/inner']],
  ['copy over a folder', (b, o) => copy(b.at('d'), b.at('e'), { ...o, intoFolders: false }), ['e', 'e/inner']],
  [
    'write what was fetched',
    (b, o) => writeFetchedFolder(b.at('x').path, FETCHED, b.at('a/b'), DEFAULT_CONTEXT, o),
    ['', 'a', 'a/b', 'a/b/x'],
  ],
  ['move', (b, o) => move(b.at('d/inner/g'), b.at('a/b/g'), o), ['', 'a', 'a/b', 'd/inner']],
  ['remove a file', (b, o) => removeFile(b.root, b.at('d/g').path, o), ['d']],
  ['remove an entry', (b, o) => removeEntry(b.root, b.at('d/g').path, o), ['d']],
  ['remove a folder', (b, o) => removeFolder(b.root, b.at('d/inner').path, o), ['d']],
  ['remove an empty folder', (b, o) => removeFolder(b.root, b.at('e/empty').path, { ...o, recursive: false }), ['e']],
];

/** Runs an operation in a sandbox, and returns which folders were flushed, and how many files. */
async function flushedBy(
  box: Sandbox,
  operation: () => Promise<unknown>,
): Promise<{ folders: string[]; files: number }> {
  box.file('f', 'f');
  box.file('d/g', 'g');
  box.file('d/inner/g', 'g');
  box.folder('e/empty');
  const folders = new Set<string>();
  const syncDir = Dir.prototype.sync;
  vi.spyOn(Dir.prototype, 'sync').mockImplementation(function (this: Dir) {
    folders.add(path.relative(box.inside, this.hostPath()).replace(/\.ringfence-tmp-[^/]*/, 'HIDDEN'));
    return syncDir.call(this);
  });
  const syncFile = vi.spyOn(OpenFile.prototype, 'sync');
  await operation();
  return { folders: [...folders].sort(), files: syncFile.mock.calls.length };
}

afterEach(() => vi.restoreAllMocks());

onEveryBackend((open) => {
  describe.each(OPERATIONS)('%s', (_, operation, folders) => {
    test('flushes every folder in which a name has changed, with new parents', async () => {
      using box = open();
      expect((await flushedBy(box, () => operation(box, { durable: true }))).folders).toEqual(folders);
    });

    test('flushes nothing unless it has to be durable', async () => {
      using box = open();
      expect(await flushedBy(box, () => operation(box, { durable: false }))).toEqual({ folders: [], files: 0 });
    });
  });
});

test('a folder of the host that is made has its name flushed, and those above it', () => {
  const base = fs.mkdtempSync(path.join(memory(), 'ringfence-'));
  const flushed: string[] = [];
  vi.spyOn(fs, 'fsyncSync').mockImplementation((fd) => void flushed.push(fs.readlinkSync(`/proc/self/fd/${fd}`)));
  ensureHostFolder(path.join(base, 'a/b'));
  expect(flushed).toEqual([base, path.join(base, 'a')]);
  ensureHostFolder(path.join(base, 'a/b'));
  expect(flushed).toHaveLength(2);
  fs.rmSync(base, { recursive: true });
});
