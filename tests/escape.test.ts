import { createHash } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { RingfenceError } from '../src/errors.ts';
import {
  ESCAPE_ROWS,
  type EscapeRow,
  expected,
  makeLayout,
  readBelow,
  SECRET,
  skipReason,
} from '../src/fence/escape-layouts.fixture.ts';
import {
  BACKEND_NAMES,
  type BackendName,
  type CallerPath,
  chooseBackend,
  parseCallerPath,
  Root,
} from '../src/fence/index.ts';
import * as fenceEntry from '../src/fence.ts';
import { copy } from '../src/files/copy/copy.ts';
import { move } from '../src/files/copy/move.ts';
import { insertText, patchFile, previewWrite, replaceText, replaceTexts } from '../src/files/edit/edit-file.ts';
import { accessOf } from '../src/files/list/access.ts';
import { listFolder } from '../src/files/list/list-folder.ts';
import { statPath } from '../src/files/list/stat-path.ts';
import { hashFile } from '../src/files/read/hash-file.ts';
import { readFile } from '../src/files/read/read-file.ts';
import { removeEntry, removeFile } from '../src/files/remove/remove-entry.ts';
import { removeFolder } from '../src/files/remove/remove-folder.ts';
import { sweepLeftovers } from '../src/files/sweep/sweep-leftovers.ts';
import { makeFolder } from '../src/files/write/make-folder.ts';
import { writeFile } from '../src/files/write/write-file.ts';
import { DEFAULT_CONTEXT } from '../src/runtime/operation-context.ts';
import { glob, grep, SearchPool, walk } from '../src/search/index.ts';
import * as searchEntry from '../src/search.ts';

const pool = new SearchPool({ size: 1 });
afterAll(() => pool.close());

const MAX_BYTES = 1024 * 1024;
const QUICK = { durable: false } as const;
const at = parseCallerPath;

type Op = (root: Root, path: CallerPath) => unknown;

const search = { maxResults: 1000, timeoutSeconds: 20 } as const;

/** Each takes the path of a row as its own. The first word of a name is the function it calls. */
const READING = {
  'readFile whole': (root, path) =>
    readFile(root, path, { range: { by: 'whole' }, maxBytes: MAX_BYTES }, DEFAULT_CONTEXT),
  'readFile lines': (root, path) =>
    readFile(root, path, { range: { by: 'lines', offset: 1 }, maxBytes: MAX_BYTES }, DEFAULT_CONTEXT),
  hashFile: (root, path) => hashFile(root, path, 'sha256', DEFAULT_CONTEXT),
  listFolder: (root, path) => listFolder(root, path, DEFAULT_CONTEXT),
  statPath: (root, path) => statPath(root, path),
  accessOf: (root, path) => accessOf(root, path),
  grep: (root, path) =>
    grep(root, { ...search, path, pattern: '', caseInsensitive: false, contextLines: 0 }, pool, DEFAULT_CONTEXT),
  glob: (root, path) => glob(root, { ...search, path, pattern: '**', type: 'all' }, pool, DEFAULT_CONTEXT),
  walk: (root, path) => [...walk(root, { path })],
} satisfies Record<string, Op>;

const CREATING: Readonly<Record<string, Op>> = {
  'writeFile append': (root, path) => writeFile(root, path, Buffer.from('new'), { mode: 'append', ...QUICK }),
  'writeFile overwrite': (root, path) => writeFile(root, path, Buffer.from('new'), { mode: 'overwrite', ...QUICK }),
  'writeFile create_only': (root, path) => writeFile(root, path, Buffer.from('new'), { mode: 'create_only', ...QUICK }),
  'writeFile below': (root, path) =>
    writeFile(root, below(path), Buffer.from('new'), { mode: 'create_only', ...QUICK }),
  makeFolder: (root, path) => makeFolder(root, path),
  'makeFolder below': (root, path) => makeFolder(root, below(path)),
  patchFile: (root, path) => patchFile(root, path, `@@ -1 +1 @@\n-${SECRET}\n+changed\n`, QUICK),
  replaceText: (root, path) => replaceText(root, path, { oldText: SECRET, newText: 'changed' }, QUICK),
  replaceTexts: (root, path) => replaceTexts(root, path, [{ oldText: SECRET, newText: 'changed' }], QUICK),
  previewWrite: (root, path) => previewWrite(root, path, Buffer.from('changed'), { mode: 'overwrite' }),
  insertText: (root, path) => insertText(root, path, { after: 0, text: 'new', as: 'text' }, QUICK),
  'copy from': (root, path) => copy({ root, path }, { root, path: at('copied') }, QUICK, DEFAULT_CONTEXT),
  'copy to': (root, path) => copy({ root, path: at('file.txt') }, { root, path }, QUICK, DEFAULT_CONTEXT),
  'copy of dir': (root) => copy({ root, path: at('dir') }, { root, path: at('copied dir') }, QUICK, DEFAULT_CONTEXT),
};

/** These may take away what makes a row a row, so each gets the layout anew. */
const DESTROYING: Readonly<Record<string, Op>> = {
  'move from': (root, path) => move({ root, path }, { root, path: at('moved') }, QUICK, DEFAULT_CONTEXT),
  'move to': (root, path) => move({ root, path: at('file.txt') }, { root, path }, QUICK, DEFAULT_CONTEXT),
  'move of folder to': (root, path) => move({ root, path: at('dir/sub') }, { root, path }, QUICK, DEFAULT_CONTEXT),
  removeFile: (root, path) => removeFile(root, path),
  removeEntry: (root, path) => removeEntry(root, path, {}, DEFAULT_CONTEXT),
  removeFolder: (root, path) => removeFolder(root, path, {}, DEFAULT_CONTEXT),
  sweepLeftovers: (root) => sweepLeftovers(root, DEFAULT_CONTEXT.signal),
};

function below(path: CallerPath): CallerPath {
  return { raw: `${path.raw}/made`, segments: [...path.segments, 'made'] };
}

interface Outcome {
  readonly value?: unknown;
  readonly code?: string;
}

async function outcome(op: Op, root: Root, raw: string): Promise<Outcome> {
  try {
    return { value: await op(root, at(raw)) };
  } catch (error) {
    // Anything else is a bug, and might show a host path.
    if (error instanceof RingfenceError) return { code: error.code };
    throw error;
  }
}

/** What a result would show, bytes as text. */
function shown(results: unknown): string {
  return JSON.stringify(results, (_key, value) =>
    value?.type === 'Buffer' ? Buffer.from(value.data).toString('latin1') : value,
  );
}

async function attempt(ops: Readonly<Record<string, Op>>, row: EscapeRow, backend: BackendName) {
  using layout = makeLayout(row);
  const before = layout.snapshotOutside();
  using root = Root.open('r', layout.rootPath, chooseBackend(backend));
  const results: Record<string, Outcome> = {};
  for (const [name, op] of Object.entries(ops)) results[name] = await outcome(op, root, layout.path);
  expect(layout.snapshotOutside(), Object.keys(ops).join()).toBe(before);
  expect(shown(results)).not.toContain(SECRET);
  const want = expected(row, backend);
  return { results, content: 'file' in want && ops === READING ? readBelow(layout.places.root, want.file) : undefined };
}

/** Runs operations until one changes what is inside; returns those that are left. */
async function attemptUntilChanged(ops: readonly [string, Op][], row: EscapeRow, backend: BackendName) {
  using layout = makeLayout(row);
  const outside = layout.snapshotOutside();
  const inside = layout.snapshotInside();
  using root = Root.open('r', layout.rootPath, chooseBackend(backend));
  const want = expected(row, backend);
  let done = 0;
  while (done < ops.length && layout.snapshotInside() === inside) {
    const [name, op] = ops[done++] as [string, Op];
    const result = await outcome(op, root, layout.path);
    expect(layout.snapshotOutside(), name).toBe(outside);
    expect(shown(result)).not.toContain(SECRET);
    const mustRefuse = 'code' in want && want.code === 'outside_root' && name in CREATING && name !== 'copy of dir';
    if (mustRefuse) expect([name, result.code]).toEqual([name, 'outside_root']);
  }
  return ops.slice(done);
}

/** The functions of the two libraries that do not touch files. */
const NOT_OPERATIONS = [
  'chooseBackend',
  'entryTypeOf',
  'isFenceError',
  'isFileError',
  'isSearchError',
  'parseCallerPath',
  'versionOf',
];

test('every operation that the libraries export is in the tables', () => {
  const exported = Object.entries({ ...fenceEntry, ...searchEntry })
    .filter(([, value]) => typeof value === 'function' && !/^class\b/.test(String(value)))
    .map(([name]) => name);
  const tried = Object.keys({ ...READING, ...CREATING, ...DESTROYING }).map((name) => name.split(' ')[0]);
  expect(exported.filter((name) => !tried.includes(name)).sort()).toEqual(NOT_OPERATIONS);
});

const rows = ESCAPE_ROWS.filter((row) => skipReason(row) === undefined);

describe.each(BACKEND_NAMES)('every operation, on %s', (backend) => {
  // The portable backend takes seconds so far below the root.
  const here = rows.filter((row) => backend !== 'portable' || !row.farBelow);

  test.each(here)('reads what it may: $name', async (row) => {
    const { results, content } = await attempt(READING, row, backend);
    const code = (name: keyof typeof READING) => results[name]?.code;
    expect(code('walk')).toBe(code('listFolder'));
    const want = expected(row, backend);
    if ('file' in want) {
      expect(results['readFile whole']?.value).toMatchObject({ bytes: content });
      expect(results['readFile lines']?.value).toMatchObject({ bytes: content });
      expect(results.hashFile?.value).toMatchObject({
        hash: createHash('sha256')
          .update(content ?? '')
          .digest('hex'),
      });
      if (row.except === undefined) expect(results.grep?.value).toMatchObject({ matches: [{}], filesSearched: 1 });
      expect([code('listFolder'), code('statPath')]).toEqual([
        want.asFolder ?? 'not_directory',
        row.except === undefined ? undefined : code('statPath'),
      ]);
    } else if ('vacant' in want) {
      expect([code('readFile whole'), code('readFile lines'), code('hashFile')]).toEqual(Array(3).fill('not_found'));
      expect([code('listFolder'), code('grep'), code('glob')]).toEqual(Array(3).fill('not_found'));
    } else if ('code' in want) {
      expect([code('readFile whole'), code('readFile lines'), code('hashFile')]).toEqual(Array(3).fill(want.code));
      expect(code('listFolder')).toBe(want.folder ?? want.code);
      expect([code('grep'), code('glob')]).not.toContain(undefined);
    } else {
      expect([code('readFile whole'), code('readFile lines'), code('hashFile')]).toEqual(Array(3).fill('is_directory'));
      expect([code('listFolder'), code('statPath'), code('grep'), code('glob')]).toEqual(Array(4).fill(undefined));
    }
  });

  const isRefused = (row: EscapeRow) => 'code' in expected(row, backend) && !row.farBelow;
  const refused = here.filter(isRefused);
  const inside = here.filter((row) => !isRefused(row));

  test.each(inside)('changes nothing outside: $name', async (row) => {
    await attempt(CREATING, row, backend);
    await attempt(DESTROYING, row, backend);
  });

  // Where operations may take away what makes a row a row (the link itself), the next one gets the layout anew.
  test.each(refused)('changes nothing outside: $name', async (row) => {
    let left = Object.entries({ ...CREATING, ...DESTROYING });
    while (left.length > 0) left = await attemptUntilChanged(left, row, backend);
  });

  test('searching and copying a folder with links out brings nothing in', async () => {
    const build: EscapeRow['build'] = (places) => {
      for (const row of rows.filter(({ name, opened, farBelow }) => /link/.test(name) && !opened && !farBelow))
        tryTo(() => row.build?.(places));
    };
    const row: EscapeRow = { name: 'all of them', build, path: '', expect: { folder: '' } };
    const { results } = await attempt(
      {
        grep: READING.grep,
        glob: READING.glob,
        listFolder: READING.listFolder,
        copy: (root) => copy({ root, path: at('') }, { root, path: at('dir/x') }, QUICK, DEFAULT_CONTEXT),
        copyDir: (root) => copy({ root, path: at('dir') }, { root, path: at('copied') }, QUICK, DEFAULT_CONTEXT),
        grepCopy: (root) => READING.grep(root, at('copied')),
        remove: (root) => removeFolder(root, at('dir'), {}, DEFAULT_CONTEXT),
      },
      row,
      backend,
    );
    expect(results.copy?.code).toBe('into_itself');
    expect(results.grep?.code).toBeUndefined();
    expect(results.copyDir?.code).toBeUndefined();
    expect(results.remove?.code).toBeUndefined();
  });
});

function tryTo(act: () => void): void {
  try {
    act();
  } catch {
    // Another row has already taken the name.
  }
}
