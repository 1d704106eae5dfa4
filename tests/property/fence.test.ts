import fs from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RingfenceError } from '../../src/errors.ts';
import { makeLayout, type Places, SECRET } from '../../src/fence/escape-layouts.fixture.ts';
import { BACKEND_NAMES, chooseBackend, parseCallerPath, Root } from '../../src/fence/index.ts';

const RUNS = 300;
const LIMIT_MS = 12_000;

const backends = BACKEND_NAMES.map((backend) => chooseBackend(backend));

/** Few names, so that paths and links often meet what is there. */
const name = fc.constantFrom('a', 'b', 'dir', 'file.txt', 'secret.txt');
const step = fc.oneof({ weight: 6, arbitrary: name }, { weight: 2, arbitrary: fc.constantFrom('..', '.', '') });

const target = fc.record({
  start: fc.constantFrom(
    '',
    '',
    '',
    '../',
    '../../',
    'ROOT/',
    'ROOT/../',
    'OUTSIDE/',
    'OUTSIDE/',
    '../root/',
    '../outside/',
    '../outside/',
    '/',
    'BASE/',
  ),
  steps: fc.array(step, { maxLength: 3 }),
  slash: fc.constantFrom('', '', '', '/'),
});

const item = fc.record({
  at: fc.array(name, { minLength: 1, maxLength: 3 }),
  what: fc.oneof(
    { weight: 2, arbitrary: fc.constant('folder' as const) },
    { weight: 2, arbitrary: fc.constant('file' as const) },
    { weight: 5, arbitrary: target },
  ),
});

type Item = typeof item extends fc.Arbitrary<infer T> ? T : never;

/** What cannot be made, because something else is there already, is left out. */
function build(places: Places, items: readonly Item[]): void {
  for (const [i, { at, what }] of items.entries()) {
    const host = path.join(places.root, ...at);
    try {
      // Never through a link of an earlier item, which might lead out.
      if (fs.realpathSync(path.dirname(host)) !== path.dirname(host)) continue;
      if (what === 'folder') fs.mkdirSync(host);
      else if (what === 'file') fs.writeFileSync(host, `inside ${i}`, { flag: 'wx' });
      else fs.symlinkSync(text(places, what), host);
    } catch {
      // A later item may fit.
    }
  }
}

function text(
  { base, root, outside }: Places,
  { start, steps, slash }: typeof target extends fc.Arbitrary<infer T> ? T : never,
) {
  const from = start.replace('ROOT', root).replace('OUTSIDE', outside).replace('BASE', base);
  return from + steps.join('/') + slash || '.';
}

interface Answer {
  readonly code?: string;
  readonly ino?: number | undefined;
  readonly text?: string;
}

function answer(call: () => Answer): Answer {
  try {
    return call();
  } catch (error) {
    if (error instanceof RingfenceError) return { code: error.code };
    throw error;
  }
}

function ask(root: Root, raw: string) {
  const file = answer(() => {
    using opened = root.openFile(parseCallerPath(raw));
    const into = Buffer.alloc(256);
    return { ino: opened.stats.ino, text: into.subarray(0, opened.read(into)).toString() };
  });
  const folder = answer(() => {
    using opened = root.openDir(parseCallerPath(raw));
    return {
      ino: opened.lstat('.')?.ino,
      text: opened
        .list()
        .map((entry) => entry.name)
        .sort()
        .join(),
    };
  });
  const place = (follow: boolean) =>
    answer(() => {
      using found = root.locate(parseCallerPath(raw), { follow });
      return { ino: found.stats?.ino, text: String(found.dir.lstat('.')?.ino) };
    });
  return { file, folder, followed: place(true), unfollowed: place(false) };
}

/** Reasons for which a path that plain fs finds inside is still refused. */
const DOCUMENTED = {
  /** A link that passes through some other link outside is not followed there, though it may come back. */
  outside_root: true,
  /** Plain `fs` of Node counts no links. */
  link_loop: true,
};

test('random layouts and paths: backends agree, plain fs agrees, nothing leaves', () => {
  let insides = 0;
  let outsides = 0;
  fc.assert(
    fc.property(
      fc.array(item, { minLength: 1, maxLength: 8 }),
      fc.array(fc.array(step, { maxLength: 6 }), { minLength: 2, maxLength: 4 }),
      (items, paths) => {
        using layout = makeLayout({
          name: 'random',
          path: '',
          expect: { folder: '' },
          build: (places) => build(places, items),
        });
        const before = layout.snapshotOutside();
        const roots = backends.map((backend) => Root.open('r', layout.rootPath, backend));
        const inodesOutside = new Set(inodesBelow(layout.outsidePath));
        for (const steps of [...paths, ...items.map(({ at }) => at)]) {
          const raw = steps.join('/');
          const answers = roots.map((root) => ask(root, raw));
          const [first] = answers;
          if (first === undefined) throw new Error('no backend');
          for (const other of answers) expect(other).toEqual(first);
          expect(JSON.stringify(first)).not.toContain(SECRET);
          for (const { ino } of Object.values(first)) expect(inodesOutside.has(ino ?? -1)).toBe(false);

          const real = whereTo(layout.rootPath, raw);
          if (real === undefined) {
            expect(first.file.code).toBeDefined();
            expect(first.folder.code).toBeDefined();
          } else if (real === layout.rootPath || real.startsWith(layout.rootPath + path.sep)) {
            insides += 1;
            const { ino } = fs.statSync(real);
            if (!(first.followed.code !== undefined && first.followed.code in DOCUMENTED))
              expect(first.followed.ino).toBe(ino);
          } else {
            outsides += 1;
            expect([first.file.code, first.folder.code, first.followed.code]).toEqual(Array(3).fill('outside_root'));
          }
        }
        expect(layout.snapshotOutside()).toBe(before);
        for (const root of roots) root[Symbol.dispose]();
      },
    ),
    {
      numRuns: RUNS,
      interruptAfterTimeLimit: LIMIT_MS,
      markInterruptAsFailure: false,
    },
  );
  // The paths were worth trying.
  expect(insides).toBeGreaterThan(50);
  expect(outsides).toBeGreaterThan(10);
});

/** Where plain fs would go from the root, `..` in the caller's own path taken back as written; undefined for nowhere. */
function whereTo(root: string, raw: string): string | undefined {
  try {
    const { segments } = parseCallerPath(raw);
    return fs.realpathSync.native(path.join(root, ...segments));
  } catch {
    return undefined;
  }
}

function* inodesBelow(top: string): Generator<number, void> {
  yield fs.lstatSync(top).ino;
  for (const entry of fs.readdirSync(top, { withFileTypes: true })) {
    if (entry.isDirectory()) yield* inodesBelow(path.join(top, entry.name));
    else yield fs.lstatSync(path.join(top, entry.name)).ino;
  }
}
