import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { RingfenceError } from '../errors.ts';
import {
  ESCAPE_ROWS,
  type EscapeRow,
  expected,
  type Layout,
  makeLayout,
  readBelow,
  SECRET,
  skipReason,
} from './escape-layouts.fixture.ts';
import { BACKEND_NAMES, type BackendName, chooseBackend, type Dir, parseCallerPath, Root } from './index.ts';

const backends = new Map(BACKEND_NAMES.map((name) => [name, chooseBackend(name)]));

/** What a call came to, in a form that two backends can be compared by. */
type Outcome = { readonly code: string } | { readonly is: unknown };

/** The answers to one path. */
type Found = Readonly<Record<'file' | 'folder' | 'followed' | 'unfollowed', Outcome>>;

function outcome(call: () => unknown): Outcome {
  try {
    return { is: call() };
  } catch (error) {
    if (error instanceof RingfenceError) return { code: error.code };
    throw error;
  }
}

function opened(layout: Layout, backend: BackendName): Root {
  const chosen = backends.get(backend);
  if (chosen === undefined) throw new Error(`no backend ${backend}`);
  return Root.open('r', layout.rootPath, chosen);
}

function readAll(root: Root, raw: string): { ino: number; text: string } {
  using file = root.openFile(parseCallerPath(raw));
  const into = Buffer.alloc(file.stats.size + 1);
  return { ino: file.stats.ino, text: into.subarray(0, file.read(into)).toString('latin1') };
}

function listAll(root: Root, raw: string): { ino: number | undefined; names: string[] } {
  using dir = root.openDir(parseCallerPath(raw));
  return { ino: dir.lstat('.')?.ino, names: namesIn(dir) };
}

function namesIn(dir: Dir): string[] {
  return dir
    .list()
    .map((entry) => entry.name)
    .sort();
}

function find(root: Root, raw: string, follow: boolean): unknown {
  using found = root.locate(parseCallerPath(raw), { follow });
  const { name, stats } = found;
  // Which names lead there may differ by backend where a folder on the way is a link, but they have to lead there.
  using again = root.locate(parseCallerPath(found.path), { follow: false });
  expect(again.stats?.ino).toBe(stats?.ino);
  return { name, ino: stats?.ino, mode: stats?.mode, parent: found.dir.lstat('.')?.ino };
}

const rows = ESCAPE_ROWS.filter((row) => skipReason(row) === undefined);
const skipped = ESCAPE_ROWS.filter((row) => skipReason(row) !== undefined);

/** The portable backend looks at the whole path before every step, which takes it seconds far below the root. */
function backendsFor(row: EscapeRow): readonly BackendName[] {
  return row.farBelow ? ['openat2', 'procfd'] : BACKEND_NAMES;
}

test('the table is large and its rows are told apart by name', () => {
  expect(ESCAPE_ROWS.length).toBeGreaterThanOrEqual(45);
  expect(new Set(ESCAPE_ROWS.map((row) => row.name)).size).toBe(ESCAPE_ROWS.length);
});

for (const row of skipped) test.skip(`${row.name} (not here: ${skipReason(row)})`, () => {});

describe('where a path leads', () => {
  test.each(rows)('$name', (row) => {
    using layout = makeLayout(row);
    const before = layout.snapshotOutside();
    const answers = backendsFor(row).map((backend) => {
      using root = opened(layout, backend);
      const found = {
        file: outcome(() => readAll(root, layout.path)),
        folder: outcome(() => listAll(root, layout.path)),
        followed: outcome(() => find(root, layout.path, true)),
        unfollowed: outcome(() => find(root, layout.path, false)),
      };
      expectAsTheRowSays(row, layout, backend, found);
      expect(JSON.stringify(found)).not.toContain(SECRET);
      return { backend, found };
    });
    for (const { backend, found } of answers) {
      if (row.except === undefined) expect(found, `${backend} as the others`).toEqual(answers[0]?.found);
    }
    expect(layout.snapshotOutside()).toBe(before);
  });

  function expectAsTheRowSays(row: EscapeRow, layout: Layout, backend: BackendName, found: Found) {
    const want = expected(row, backend);
    if ('file' in want) {
      const text = readBelow(layout.places.root, want.file).toString('latin1');
      expect(found.file, backend).toMatchObject({ is: { text } });
      expect(found.folder, backend).toEqual({ code: want.asFolder ?? 'not_directory' });
    } else if ('vacant' in want) {
      expect(found.file, backend).toEqual({ code: 'not_found' });
      expect(found.folder, backend).toEqual({ code: 'not_found' });
    } else if ('code' in want) {
      expect(found.file, backend).toEqual({ code: want.code });
      expect(found.folder, backend).toEqual({ code: want.folder ?? want.code });
    } else {
      expect(found.file, backend).toEqual({ code: 'is_directory' });
      expect(found.folder, backend).toMatchObject({
        is: { names: visible(path.join(layout.places.root, want.folder)) },
      });
    }
    if (!row.unlikePlainFs && !('code' in want)) expectAsPlainFs(layout, found);
  }

  function expectAsPlainFs({ rootPath, path: raw }: Layout, found: Found) {
    const host = path.join(rootPath, raw);
    const followed = fs.statSync(host, { throwIfNoEntry: false });
    if (followed !== undefined) expect(found.followed).toMatchObject({ is: { ino: followed.ino } });
    if (followed?.isFile()) {
      expect(found.file).toEqual({ is: { ino: followed.ino, text: fs.readFileSync(host, 'latin1') } });
    }
    if (followed?.isDirectory()) expect(found.folder).toEqual({ is: { ino: followed.ino, names: visible(host) } });
    const unfollowed = fs.lstatSync(host.replace(/\/$/, ''), { throwIfNoEntry: false });
    if (unfollowed !== undefined) expect(found.unfollowed).toMatchObject({ is: { ino: unfollowed.ino } });
  }
});

test.each(BACKEND_NAMES)('a whole tree reads as plain fs reads it, on %s', (backend) => {
  using layout = makeLayout({ name: 'tree', path: '', expect: { folder: '' }, build: plant });
  using root = opened(layout, backend);
  const seen: string[] = [];
  const visit = (at: string): void => {
    seen.push(at);
    const host = path.join(layout.rootPath, at);
    const entry = fs.lstatSync(host);
    expect(find(root, at, false)).toMatchObject({ ino: entry.ino, mode: entry.mode });
    const followed = fs.statSync(host, { throwIfNoEntry: false });
    const { ino } = followed ?? {};
    if (followed?.isFile()) expect(readAll(root, at)).toEqual({ ino, text: fs.readFileSync(host, 'latin1') });
    if (followed?.isDirectory()) expect(listAll(root, at)).toEqual({ ino, names: visible(host) });
    if (entry.isDirectory()) for (const name of fs.readdirSync(host)) visit(path.posix.join(at, name));
  };
  visit('');
  expect(seen.length).toBeGreaterThan(300);
});

describe('changes through what a path leads to stay inside', () => {
  /** Each acts on the entry that the path leads to, as an operation would. */
  const CHANGES: Readonly<Record<string, (dir: Dir, name: string) => void>> = {
    createFile: (dir, name) => dir.createFile(name)[Symbol.dispose](),
    overwrite: (dir, name) => {
      using file = dir.openFile(name, fs.constants.O_WRONLY | fs.constants.O_CREAT | fs.constants.O_TRUNC);
      file.writeAll(Buffer.from('changed'));
      file.chmod(0o600);
    },
    mkdir: (dir, name) => dir.mkdir(name),
    unlink: (dir, name) => dir.unlink(name),
    rmdir: (dir, name) => dir.rmdir(name),
    symlink: (dir, name) => dir.symlink('/', name),
    chmod: (dir, name) => dir.chmod(name, 0o700),
    'rename away': (dir, name) => dir.rename(name, dir, 'moved'),
    'rename over': (dir, name) => {
      dir.createFile('incoming')[Symbol.dispose]();
      dir.rename('incoming', dir, name);
    },
    'renameNoReplace away': (dir, name) => dir.renameNoReplace(name, dir, 'moved'),
    'renameNoReplace onto': (dir, name) => {
      dir.createFile('incoming')[Symbol.dispose]();
      dir.renameNoReplace('incoming', dir, name);
    },
  };

  describe.each(BACKEND_NAMES)('%s', (backend) => {
    test.each(rows.filter((row) => backendsFor(row).includes(backend)))('$name', (row) => {
      for (const follow of [true, false]) {
        using layout = makeLayout(row);
        const before = layout.snapshotOutside();
        using root = opened(layout, backend);
        for (const [, change] of Object.entries(CHANGES)) {
          outcome(() => {
            using found = root.locate(parseCallerPath(layout.path), { follow, makeParents: true });
            change(found.dir, found.name);
          });
        }
        expect(layout.snapshotOutside()).toBe(before);
      }
    });
  });

  test.each(rows.filter((row) => 'vacant' in row.expect))('a new file goes where the path leads: $name', (row) => {
    for (const backend of BACKEND_NAMES) {
      const want = expected(row, backend);
      if (!('vacant' in want)) continue;
      using layout = makeLayout(row);
      using root = opened(layout, backend);
      using found = root.locate(parseCallerPath(layout.path), { follow: true, makeParents: true });
      expect(found.stats).toBeUndefined();
      using file = found.dir.createFile(found.name);
      file.writeAll(Buffer.from('made'));
      expect(readBelow(layout.places.root, want.vacant).toString()).toBe('made');
    }
  });
});

function visible(host: string): string[] {
  return fs
    .readdirSync(host)
    .filter((name) => !name.startsWith('.ringfence-tmp-'))
    .sort();
}

/** Four levels of folders, files and links between them, all inside. */
function plant({ root }: { root: string }): void {
  const grow = (at: string, depth: number): void => {
    for (const name of ['a b', 'ü', '.hidden']) {
      fs.writeFileSync(path.join(at, `${name}.txt`), `${at}/${name}`);
      fs.symlinkSync(`${name}.txt`, path.join(at, `${name} link`));
      fs.symlinkSync(path.relative(at, path.join(root, 'dir')) || '.', path.join(at, `${name} up`));
      if (depth === 0) continue;
      fs.mkdirSync(path.join(at, name));
      grow(path.join(at, name), depth - 1);
    }
  };
  fs.mkdirSync(path.join(root, 'planted'));
  grow(path.join(root, 'planted'), 3);
}
