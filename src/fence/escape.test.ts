import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  ESCAPE_ROWS,
  expected,
  type Layout,
  makeLayout,
  readBelow,
  SECRET,
  skipReason,
} from '../../tests/support/escape-layouts.ts';
import { RingfenceError } from '../errors.ts';
import { BACKEND_NAMES, type BackendName, chooseBackend, type Dir, parseCallerPath, Root } from './index.ts';

const backends = new Map(BACKEND_NAMES.map((name) => [name, chooseBackend(name)]));

/** What a call came to, in a form that two backends can be compared by. */
type Outcome = { readonly code: string } | { readonly is: unknown };

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

test('the table is large and its rows are told apart by name', () => {
  expect(ESCAPE_ROWS.length).toBeGreaterThanOrEqual(45);
  expect(new Set(ESCAPE_ROWS.map((row) => row.name)).size).toBe(ESCAPE_ROWS.length);
});

for (const row of skipped) test.skip(`${row.name} (not here: ${skipReason(row)})`, () => {});

describe.each(BACKEND_NAMES)('%s', (backend) => {
  test.each(rows)('$name', (row) => {
    using layout = makeLayout(row);
    const before = layout.snapshotOutside();
    using root = opened(layout, backend);
    const want = expected(row, backend);
    const asFile = outcome(() => readAll(root, layout.path));
    const asFolder = outcome(() => listAll(root, layout.path));

    if ('file' in want) {
      const text = readBelow(layout.places.root, want.file).toString('latin1');
      expect(asFile).toMatchObject({ is: { text } });
      expect(asFolder).toEqual({ code: 'not_directory' });
    } else if ('folder' in want && !('code' in want)) {
      const names = fs
        .readdirSync(path.join(layout.places.root, want.folder))
        .filter((name) => !name.startsWith('.ringfence-tmp-'))
        .sort();
      expect(asFile).toEqual({ code: 'is_directory' });
      expect(asFolder).toMatchObject({ is: { names } });
    } else if ('vacant' in want) {
      expect(asFile).toEqual({ code: 'not_found' });
      expect(asFolder).toEqual({ code: 'not_found' });
    } else {
      expect(asFile).toEqual({ code: want.code });
      expect(asFolder).toEqual({ code: want.folder ?? want.code });
    }
    expect(JSON.stringify([asFile, asFolder])).not.toContain(SECRET);
    expect(layout.snapshotOutside()).toBe(before);
  });
});

describe('changes through what a path leads to stay inside', () => {
  /** Each acts on the entry that the path leads to, as an operation would. */
  const CHANGES: Readonly<Record<string, (dir: Dir, name: string) => void>> = {
    createFile: (dir, name) => dir.createFile(name)[Symbol.dispose](),
    overwrite: (dir, name) => {
      using file = dir.openFile(name, fs.constants.O_WRONLY | fs.constants.O_CREAT | fs.constants.O_TRUNC);
      file.write(Buffer.from('changed'));
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
    'renameNew away': (dir, name) => dir.renameNew(name, dir, 'moved'),
    'renameNew onto': (dir, name) => {
      dir.createFile('incoming')[Symbol.dispose]();
      dir.renameNew('incoming', dir, name);
    },
  };

  describe.each(BACKEND_NAMES)('%s', (backend) => {
    // The portable backend looks at the whole path again before every step, which takes it seconds at 320 levels.
    const quick = rows.filter((row) => backend !== 'portable' || !/levels/.test(row.name));

    test.each(quick)('$name', (row) => {
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
      file.write(Buffer.from('made'));
      expect(readBelow(layout.places.root, want.vacant).toString()).toBe('made');
    }
  });
});

describe('the backends agree', () => {
  function answers(backend: BackendName, layout: Layout): unknown {
    using root = opened(layout, backend);
    return {
      file: outcome(() => readAll(root, layout.path)),
      folder: outcome(() => listAll(root, layout.path)),
      followed: outcome(() => find(root, layout.path, true)),
      unfollowed: outcome(() => find(root, layout.path, false)),
    };
  }

  test.each(rows.filter((row) => row.except === undefined))('$name', (row) => {
    using layout = makeLayout(row);
    const openat2 = answers('openat2', layout);
    expect(answers('procfd', layout)).toEqual(openat2);
    expect(answers('portable', layout)).toEqual(openat2);
  });
});

describe('innocent paths lead where plain fs leads', () => {
  const innocent = rows.filter((row) => !('code' in row.expect) && !row.unlikePlainFs);

  describe.each(BACKEND_NAMES)('%s', (backend) => {
    test.each(innocent)('$name', (row) => {
      using layout = makeLayout(row);
      using root = opened(layout, backend);
      const host = path.join(layout.rootPath, layout.path);
      if ('vacant' in row.expect) {
        expect(() => fs.statSync(host)).toThrow('ENOENT');
        return;
      }
      const { ino } = fs.statSync(host);
      if ('file' in row.expect)
        expect(readAll(root, layout.path)).toEqual({ ino, text: fs.readFileSync(host, 'latin1') });
      else expect(listAll(root, layout.path)).toEqual({ ino, names: visible(host) });
      expect(find(root, layout.path, true)).toMatchObject({ ino });
      expect(find(root, layout.path, false)).toMatchObject({ ino: fs.lstatSync(host.replace(/\/$/, '')).ino });
    });

    test('a whole tree, entry by entry', () => {
      using layout = makeLayout({ name: 'tree', path: '', expect: { folder: '' }, build: plant });
      using root = opened(layout, backend);
      const seen: string[] = [];
      const visit = (at: string): void => {
        seen.push(at);
        const host = path.join(layout.rootPath, at);
        const entry = fs.lstatSync(host);
        expect(find(root, at, false)).toMatchObject({ ino: entry.ino, mode: entry.mode });
        const followed = fs.statSync(host, { throwIfNoEntry: false });
        if (followed?.isFile())
          expect(readAll(root, at)).toEqual({ ino: followed.ino, text: fs.readFileSync(host, 'latin1') });
        if (followed?.isDirectory()) expect(listAll(root, at)).toEqual({ ino: followed.ino, names: visible(host) });
        if (entry.isDirectory()) for (const name of fs.readdirSync(host)) visit(path.posix.join(at, name));
      };
      visit('');
      expect(seen.length).toBeGreaterThan(300);
    });
  });

  function visible(host: string): string[] {
    return fs
      .readdirSync(host)
      .filter((name) => !name.startsWith('.ringfence-tmp-'))
      .sort();
  }
});

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
