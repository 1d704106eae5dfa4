import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { RingfenceError } from '../errors.ts';
import type { FenceErrorCode } from './errors.ts';
import { ESCAPE_ROWS, makeDeep, makeLayout, SECRET, skipReason } from './escape-layouts.fixture.ts';
import { BACKEND_NAMES, type BackendName, chooseBackend, parseCallerPath, Root } from './index.ts';

const PLAIN = { name: 'plain', path: '', expect: { folder: '' } } as const;

function openRoot(at: string, backend: BackendName): Root {
  return Root.open('r', at, chooseBackend(backend));
}

function read(root: Root, raw: string): string {
  using file = root.openFile(parseCallerPath(raw));
  const into = Buffer.alloc(1024);
  return into.subarray(0, file.read(into)).toString();
}

function codeOf(call: () => unknown): FenceErrorCode | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    if (error instanceof RingfenceError) return error.code;
    throw error;
  }
}

function openDescriptors(): number {
  return fs.readdirSync('/proc/self/fd').length;
}

describe.each(BACKEND_NAMES)('Root on %s', (backend) => {
  test('a closed root stays closed, whatever its number stands for by then; a borrowed one closes nothing', () => {
    using layout = makeLayout(PLAIN);
    const root = openRoot(layout.rootPath, backend);
    const borrowed = Root.fromShared(root.share());
    borrowed[Symbol.dispose]();
    expect(read(root, 'file.txt')).not.toBe('');
    root[Symbol.dispose]();
    using outside = openRoot(layout.outsidePath, backend);
    root[Symbol.dispose]();
    expect(() => read(root, 'file.txt')).toThrow('the root is closed');
    expect(() => root.locate(parseCallerPath('file.txt'), { follow: true })).toThrow('the root is closed');
    expect(read(outside, 'file.txt')).toContain(SECRET);
  });

  test('a root whose folder was removed is gone, not empty', () => {
    using layout = makeLayout(PLAIN);
    using root = openRoot(layout.rootPath, backend);
    fs.rmSync(layout.rootPath, { recursive: true });
    expect(codeOf(() => root.openDir(parseCallerPath('.')))).toBe('not_found');
  });

  test('a path that climbs out is logged with where it would have led', () => {
    using layout = makeLayout(PLAIN);
    using root = openRoot(layout.rootPath, backend);
    const resolved = path.join(path.dirname(layout.rootPath), 'x');
    expect(() => root.parse('a/../../x')).toThrow(
      expect.objectContaining({ code: 'outside_root', path: 'a/../../x', root: 'r', details: { resolved } }),
    );
  });

  test('no call leaves a descriptor open, whether it succeeds or fails', () => {
    const rows = ESCAPE_ROWS.filter((row) => skipReason(row) === undefined && !row.farBelow);
    for (const row of rows) {
      using layout = makeLayout(row);
      using root = openRoot(layout.rootPath, backend);
      const before = openDescriptors();
      for (let i = 0; i < 3; i += 1) {
        codeOf(() => read(root, layout.path));
        codeOf(() => root.openDir(parseCallerPath(layout.path))[Symbol.dispose]());
        codeOf(() => root.locate(parseCallerPath(layout.path), { follow: true })[Symbol.dispose]());
        codeOf(() => root.locate(parseCallerPath(layout.path), { follow: false })[Symbol.dispose]());
        codeOf(() => root.locate(parseCallerPath(`${layout.path}/x`), { follow: true })[Symbol.dispose]());
        codeOf(() => {
          using found = root.locate(parseCallerPath(layout.path), { follow: true });
          found.dir.openFile(found.name, fs.constants.O_WRONLY)[Symbol.dispose]();
        });
        codeOf(() => {
          using found = root.locate(parseCallerPath(layout.path), { follow: true });
          found.dir.openDir(found.name)[Symbol.dispose]();
        });
      }
      expect(openDescriptors(), row.name).toBe(before);
    }
  });

  test('disposing of a root closes its descriptor', () => {
    using layout = makeLayout(PLAIN);
    const before = openDescriptors();
    openRoot(layout.rootPath, backend)[Symbol.dispose]();
    expect(openDescriptors()).toBe(before);
  });

  test('disposing twice does not close what has the number by then', () => {
    using layout = makeLayout(PLAIN);
    using root = openRoot(layout.rootPath, backend);
    const dir = root.openDir(parseCallerPath('dir'));
    dir[Symbol.dispose]();
    const file = root.openFile(parseCallerPath('file.txt'));
    dir[Symbol.dispose]();
    expect(file.read(Buffer.alloc(16))).toBeGreaterThan(0);
    file[Symbol.dispose]();
    using next = root.openFile(parseCallerPath('dir/nested.txt'));
    file[Symbol.dispose]();
    expect(next.read(Buffer.alloc(16))).toBeGreaterThan(0);
    expect(() => file.read(Buffer.alloc(16))).toThrow();
  });

  test('a root that is replaced by a link does not become what the link leads to', () => {
    using layout = makeLayout(PLAIN);
    using root = openRoot(layout.rootPath, backend);
    fs.renameSync(layout.rootPath, `${layout.rootPath}-moved`);
    fs.symlinkSync('outside', layout.rootPath);
    // A descriptor goes with the folder; a path can only be refused.
    if (backend === 'portable') expect(codeOf(() => read(root, 'file.txt'))).toBe('outside_root');
    else expect(read(root, 'file.txt')).toBe('inside file');
    expect(codeOf(() => read(root, 'secret.txt'))).toBe(backend === 'portable' ? 'outside_root' : 'not_found');
    using _restored = { [Symbol.dispose]: () => fs.rmSync(layout.rootPath) };
  });

  test('a root that was deleted has nothing in it', () => {
    using layout = makeLayout(PLAIN);
    using root = openRoot(layout.rootPath, backend);
    fs.rmSync(layout.rootPath, { recursive: true });
    expect(codeOf(() => read(root, 'file.txt'))).toBe('not_found');
    expect(codeOf(() => root.locate(parseCallerPath('new'), { follow: true }).dir.createFile('new'))).toBe('not_found');
    fs.mkdirSync(layout.rootPath);
    fs.writeFileSync(path.join(layout.rootPath, 'file.txt'), 'another');
    if (backend !== 'portable') expect(codeOf(() => read(root, 'file.txt'))).toBe('not_found');
  });

  test('a folder that is moved out while it is open keeps its links from being followed', () => {
    using layout = makeLayout(PLAIN);
    using root = openRoot(layout.rootPath, backend);
    using dir = root.openDir(parseCallerPath('dir'));
    fs.symlinkSync('../outside/secret.txt', path.join(layout.rootPath, 'dir/l'));
    fs.renameSync(path.join(layout.rootPath, 'dir'), path.join(layout.places.base, 'moved'));
    const code = codeOf(() => dir.openFile('l'));
    expect(code).toBe(backend === 'portable' ? 'not_found' : 'link_loop');
  });

  test('an error names the path and the root, and no host path', () => {
    using layout = makeLayout({
      ...PLAIN,
      build: ({ root }) => fs.symlinkSync('../outside', path.join(root, 'l')),
    });
    using root = openRoot(layout.rootPath, backend);
    for (const raw of ['missing', 'l/secret.txt', 'file.txt/x']) {
      try {
        root.openFile(parseCallerPath(raw));
        expect.unreachable();
      } catch (error) {
        expect(error).toMatchObject({ path: raw, root: 'r' });
        expect((error as Error).message).not.toContain(layout.places.base);
      }
    }
  });

  test('a root of / reads files and climbs no further than itself', () => {
    using layout = makeLayout({
      ...PLAIN,
      build: ({ root }) => fs.symlinkSync(`${'../'.repeat(40)}${root.slice(1)}/file.txt`, path.join(root, 'l')),
    });
    using root = openRoot('/', backend);
    expect(read(root, `${layout.rootPath}/file.txt`)).toBe('inside file');
    expect(read(root, `${layout.rootPath}/l`)).toBe('inside file');
  });
});

// The portable backend takes half a minute for this: realpath walks all of a path for every folder on it.
test.each<BackendName>(['openat2', 'procfd'])('1,000 levels on %s', (backend) => {
  const names = Array.from({ length: 1000 }, () => 'd');
  using layout = makeLayout({ ...PLAIN, build: ({ root }) => makeDeep(root, names, 'end.txt') });
  using root = openRoot(layout.rootPath, backend);
  expect(read(root, `${names.join('/')}/end.txt`)).toBe('inside, far below');
});

test('a root is borrowed by another thread without its descriptor being closed there', () => {
  using layout = makeLayout(PLAIN);
  using root = openRoot(layout.rootPath, 'procfd');
  const before = openDescriptors();
  expect(read(Root.fromShared(root.share()), 'file.txt')).toBe('inside file');
  expect(openDescriptors()).toBe(before);
});

test('opening a root that is missing or a file throws', () => {
  using layout = makeLayout(PLAIN);
  for (const backend of BACKEND_NAMES) {
    expect(() => openRoot(path.join(layout.rootPath, 'missing'), backend)).toThrow('ENOENT');
    expect(() => openRoot(path.join(layout.rootPath, 'file.txt'), backend)).toThrow('ENOTDIR');
  }
});

const FENCE = fileURLToPath(new URL('../../dist/fence/index.js', import.meta.url));

/** Runs a script with the compiled fence under another command, and returns what it printed as JSON. */
function runScript(command: readonly string[], script: string, ...args: string[]): unknown {
  const [program = '', ...rest] = [...command, process.execPath, '--input-type=module', '-e', script, '--', ...args];
  const { stdout, stderr, status } = spawnSync(program, rest, { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

const COLLECT = `
  const { chooseBackend, parseCallerPath, Root } = await import(${JSON.stringify(FENCE)});
  const codeOf = (call) => { try { call(); return 'ok'; } catch (error) { return error.code ?? String(error); } };`;

describe('with too few descriptors', () => {
  test.each(BACKEND_NAMES)('calls fail as exhausted and work again later, on %s', (backend) => {
    using layout = makeLayout(PLAIN);
    const script = `${COLLECT}
      const root = Root.open('r', process.argv[1], chooseBackend(process.argv[2]));
      const held = [];
      let code = 'ok';
      while (code === 'ok' && held.length < 1000) code = codeOf(() => held.push(root.openFile(parseCallerPath('file.txt'))));
      const asFolder = codeOf(() => root.openDir(parseCallerPath('dir')));
      const asPlace = codeOf(() => root.locate(parseCallerPath('dir/x'), { follow: true }));
      for (const file of held) file[Symbol.dispose]();
      const later = codeOf(() => root.openFile(parseCallerPath('file.txt')));
      console.log(JSON.stringify({ code, asFolder, asPlace, later }));`;
    const found = runScript(['prlimit', '--nofile=64:64'], script, layout.rootPath, backend);
    // The portable backend holds no folder open, so it can still look.
    const looking = backend === 'portable' ? 'ok' : 'exhausted';
    expect(found).toEqual({ code: 'exhausted', asFolder: looking, asPlace: looking, later: 'ok' });
  });
});

const mayBecomeNobody = process.platform === 'linux' && process.getuid?.() === 0;
const NOBODY = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];

describe.skipIf(!mayBecomeNobody)('as a user without privileges (only root can become one)', () => {
  const rows = ESCAPE_ROWS.filter((row) => row.unprivileged);

  test.each(rows)('$name', (row) => {
    using layout = makeLayout(row);
    spawnSync('chown', ['-R', '-h', '65534:65534', layout.places.base]);
    const script = `${COLLECT}
      const answers = process.argv.slice(3).map((backend) => {
        const root = Root.open('r', process.argv[1], chooseBackend(backend));
        const path = parseCallerPath(process.argv[2]);
        return {
          file: codeOf(() => root.openFile(path)),
          place: codeOf(() => root.locate(path, { follow: true })),
          folder: codeOf(() => root.openDir(path)),
        };
      });
      console.log(JSON.stringify(answers));`;
    const answers = runScript(NOBODY, script, layout.rootPath, layout.path, ...BACKEND_NAMES) as { file: string }[];
    for (const answer of answers) {
      expect(answer.file).toBe('code' in row.expect ? row.expect.code : 'ok');
      expect(answer).toEqual(answers[0]);
    }
    expect(JSON.stringify(answers)).not.toContain(SECRET);
  });
});

describe.each(BACKEND_NAMES)('folders made on the way, on %s', (backend) => {
  const location = (root: Root, raw: string) => root.locate(parseCallerPath(raw), { follow: true, makeParents: true });

  test('stay if something was put into them', () => {
    using layout = makeLayout(PLAIN);
    using root = openRoot(layout.rootPath, backend);
    {
      using place = location(root, 'new/er/file');
      place.dir.createFile(place.name)[Symbol.dispose]();
    }
    expect(fs.existsSync(path.join(layout.rootPath, 'new/er/file'))).toBe(true);
  });

  test('go if nothing was, but not those that were there before', () => {
    using layout = makeLayout(PLAIN);
    using root = openRoot(layout.rootPath, backend);
    fs.mkdirSync(path.join(layout.rootPath, 'old'));
    location(root, 'old/new/er/file')[Symbol.dispose]();
    expect(codeOf(() => location(root, `old/new/${'n'.repeat(300)}`))).toBe('name_too_long');
    expect(fs.readdirSync(path.join(layout.rootPath, 'old'))).toEqual([]);
  });
});

test.each(BACKEND_NAMES)('what a listing shows of an entry is what plain fs says, on %s', (backend) => {
  using layout = makeLayout(PLAIN);
  const at = (name: string) => path.join(layout.rootPath, name);
  fs.symlinkSync('file.txt', at('link'));
  fs.truncateSync(at('file.txt'), 5_000_000_000);
  fs.utimesSync(at('file.txt'), 1, -86_400.5);
  fs.mkdirSync(at('far'));
  fs.utimesSync(at('far'), 1, 5_000_000_000.25);
  using root = openRoot(layout.rootPath, backend);
  using dir = root.openDir(parseCallerPath('.'));
  for (const name of ['file.txt', 'link', 'far', 'dir']) {
    const { size, mtimeMs } = fs.lstatSync(at(name));
    expect(dir.statLite(name), name).toMatchObject({ size, mtimeMs: expect.closeTo(mtimeMs, 3) });
  }
  expect(['file.txt', 'link', 'dir'].map((name) => dir.statLite(name)?.type)).toEqual(['file', 'symlink', 'directory']);
  expect(dir.statLite('missing')).toBeUndefined();
});

test('openat2: renames elsewhere on the machine, at which the kernel gives up on a `..`, change no answer', async () => {
  using layout = makeLayout(PLAIN);
  fs.symlinkSync('dir/../file.txt', path.join(layout.rootPath, 'inward'));
  fs.symlinkSync('../../outside/secret.txt', path.join(layout.rootPath, 'dir', 'outward'));
  fs.mkdirSync(path.join(layout.outsidePath, 'busy'));
  const script = `
    const fs = require('node:fs');
    process.chdir(process.argv[1]);
    process.stdout.write('ready');
    for (const end = Date.now() + 1500; Date.now() < end; ) {
      fs.renameSync('busy', 'other');
      fs.renameSync('other', 'busy');
    }`;
  const renamer = spawn(process.execPath, ['-e', script, layout.outsidePath]);
  await once(renamer.stdout, 'data');
  using root = openRoot(layout.rootPath, 'openat2');
  const answers = new Set<string | undefined>();
  for (let i = 0; i < 5_000; i += 1) {
    answers.add(codeOf(() => read(root, 'inward')));
    answers.add(codeOf(() => read(root, 'dir/outward')));
  }
  renamer.kill();
  expect([...answers]).toEqual([undefined, 'outside_root']);
});
