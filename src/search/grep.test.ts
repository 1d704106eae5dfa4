import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { cannotDropPrivileges, runChild } from '../../tests/support/child.ts';
import { chooseBackend, parseCallerPath } from '../fence/index.ts';
import { onEveryBackend, outcome, Sandbox } from '../fence/sandbox.fixture.ts';
import { DEFAULT_CONTEXT, type OperationContext } from '../runtime/operation-context.ts';
import { type GrepOptions, grep } from './grep.ts';
import { SearchPool } from './pool/search-pool.ts';

const pool = new SearchPool();
afterAll(() => pool.close());

type Options = Partial<Omit<GrepOptions, 'path'>> & { path?: string };

function search(
  box: Sandbox,
  pattern: string,
  { path = '.', ...options }: Options = {},
  context: OperationContext = DEFAULT_CONTEXT,
) {
  return grep(
    box.root,
    {
      ...{ pattern, path: parseCallerPath(path), caseInsensitive: false, contextLines: 0 },
      ...{ maxResults: 1_000, timeoutSeconds: 60, ...options },
    },
    pool,
    context,
  );
}

async function filesWith(box: Sandbox, pattern: string, options?: Options): Promise<string[]> {
  return (await search(box, pattern, options)).matches.map((match) => match.file);
}

/** Creates files that take seconds to search and match in their first line: hard links to one file. */
function muchToSearch(box: Sandbox): string[] {
  const first = box.file('f1000', `match\n${'some text without it\n'.repeat(50_000)}`);
  const names = Array.from({ length: 1_000 }, (_, i) => `f${1_000 + i}`);
  for (const name of names.slice(1)) fs.linkSync(first, box.host(name));
  return names;
}

onEveryBackend((open) => {
  test('finds lines in files at any depth, with paths relative to the root', async () => {
    using box = open();
    box.file('code.go', `${'line\n'.repeat(9)}// TODO: fix this\nnext\nlast\n`);
    box.file('src/deep/.hidden', 'a TODO here');
    expect(await search(box, 'TODO', { contextLines: 2 })).toEqual({
      matches: [
        {
          ...{ file: 'code.go', lineNumber: 10, lineContent: '// TODO: fix this' },
          ...{ contextBefore: ['line', 'line'], contextAfter: ['next', 'last'] },
        },
        { file: 'src/deep/.hidden', lineNumber: 1, lineContent: 'a TODO here', contextBefore: [], contextAfter: [] },
      ],
      ...{ totalMatches: 2, truncated: false, timedOut: false, filesSearched: 2, filesMatched: 2, skipped: 0 },
      ...{ files: [], filesSeen: 2, pathIsFile: false, ignored: 0 },
    });
    expect(await filesWith(box, 'TODO', { path: 'src' })).toEqual(['src/deep/.hidden']);
    expect(await filesWith(box, 'TODO', { path: '/src/../code.go' })).toEqual(['code.go']);
  });

  test('results are sorted by code point of the whole path', async () => {
    using box = open();
    const names = ['a', 'a.b', 'a/b', 'a/c/d', 'a0', 'b\u{ff01}', 'b\u{1f600}', 'a-', '-x', 'Z', 'new\nline'];
    for (const name of names.filter((name) => name !== 'a')) box.file(name, 'x');
    const expected = ['-x', 'Z', 'a-', 'a.b', 'a/b', 'a/c/d', 'a0', 'b\u{ff01}', 'b\u{1f600}', 'new\nline'];
    expect(await filesWith(box, 'x')).toEqual(expected);
  });

  test('a link is followed as the start, not during the search', async () => {
    using box = open();
    box.file('real/f', 'secret');
    box.link('real', 'to-folder');
    box.link('real/f', 'to-file');
    box.link('..', 'real/up');
    box.link(box.outside, 'out');
    box.link(`${box.outside}/secret`, 'out-file');
    expect(await filesWith(box, 'secret')).toEqual(['real/f']);
    expect(await filesWith(box, 'secret', { path: 'to-folder' })).toEqual(['to-folder/f']);
    expect(await filesWith(box, 'secret', { path: 'to-file' })).toEqual(['to-file']);
    expect(await outcome(search(box, 'secret', { path: 'out' }))).toBe('outside_root');
    expect(await outcome(search(box, 'secret', { path: 'out-file' }))).toBe('outside_root');
    expect(await outcome(search(box, 'secret', { path: 'nowhere' }))).toBe('not_found');
  });

  test('a file that is only a byte order mark has no line', async () => {
    using box = open();
    box.file('empty', '');
    box.file('mark', '\ufeff');
    box.file('text', 'hello\n');
    for (const pattern of ['', '^', 'x*', 'hello|']) expect(await filesWith(box, pattern)).toEqual(['text']);
  });

  test('small, medium and large files give the same result', async () => {
    using box = open();
    // Sizes that are read at once, in several blocks, and in ranges.
    for (const [name, lines] of Object.entries({ small: 1, medium: 30_000, large: 900_000 })) {
      box.file(name, `\ufeffneedle 1\n${'some text\n'.repeat(lines)}  needle 2`);
    }
    const lines = (pattern: string) =>
      search(box, pattern, { contextLines: 1 }).then(({ matches }) =>
        matches.map(({ file, lineNumber, contextBefore }) => [file, lineNumber, contextBefore.join()]),
      );
    const first = ['large', 'medium', 'small'].map((file) => [file, 1, '']);
    expect(await lines('^needle')).toEqual(first);
    expect(await lines('^[m-o]e+d')).toEqual(first);
    const last = Object.entries({ large: 900_002, medium: 30_002, small: 3 }).map((entry) => [...entry, 'some text']);
    expect(await lines('(?i)NEEDLE.2')).toEqual(last);
    expect(await lines('e 2$')).toEqual(last);
  });

  test('special and binary files are ignored, and a FIFO does not block', async () => {
    using box = open();
    box.file('binary', 'needle\0');
    box.file('text', 'needle');
    execFileSync('mkfifo', [box.host('fifo')]);
    expect(await filesWith(box, 'needle')).toEqual(['text']);
    expect(await outcome(search(box, 'needle', { path: 'fifo' }))).toBe('special_file');
  });
});

test('searches deeper than PATH_MAX', async () => {
  using box = new Sandbox(chooseBackend().name);
  box.file('deep/z', 'needle');
  let dir = box.root.openDir(parseCallerPath('deep'));
  for (let i = 0; i < 900; i += 1) {
    dir.mkdir('down');
    const next = dir.openDir('down');
    dir[Symbol.dispose]();
    dir = next;
  }
  using file = dir.createFile('f');
  file.writeAll(Buffer.from('needle'));
  dir[Symbol.dispose]();
  expect(await filesWith(box, 'needle')).toEqual([`deep/${'down/'.repeat(900)}f`, 'deep/z']);
  // fs.rm fails on paths this long.
  execFileSync('rm', ['-rf', box.host('deep')]);
});

describe('options', () => {
  test('case sensitivity', async () => {
    using box = new Sandbox(chooseBackend().name);
    box.file('f', 'Error\nerror\nERROR\nerr\n\u017f\n');
    expect((await search(box, 'error')).totalMatches).toBe(1);
    expect((await search(box, 'error', { caseInsensitive: true })).totalMatches).toBe(3);
    expect((await search(box, 's', { caseInsensitive: true })).totalMatches).toBe(1);
  });

  test('globFilter matches names or paths', async () => {
    using box = new Sandbox(chooseBackend().name);
    for (const name of ['f.go', 'f.py', 'src/f.go', 'src/sub/f.go']) box.file(name, 'TODO');
    expect(await filesWith(box, 'TODO', { globFilter: '*.go' })).toEqual(['f.go', 'src/f.go', 'src/sub/f.go']);
    expect(await filesWith(box, 'TODO', { globFilter: 'src/*.go' })).toEqual(['src/f.go']);
    expect(await filesWith(box, 'TODO', { globFilter: '*.go', path: 'src/f.go' })).toEqual(['src/f.go']);
    expect(await filesWith(box, 'TODO', { globFilter: '*.py', path: 'src/f.go' })).toEqual([]);
    expect(await filesWith(box, 'TODO', { globFilter: 'sub/*', path: 'src' })).toEqual(['src/sub/f.go']);
    expect(await outcome(search(box, 'TODO', { globFilter: '{a,b}'.repeat(17) }))).toBe('invalid_pattern');
  });

  test('maxDepth counts from the start of the search', async () => {
    using box = new Sandbox(chooseBackend().name);
    for (const name of ['f', 'a/f', 'a/b/f']) box.file(name, 'x');
    expect(await filesWith(box, 'x', { maxDepth: 0 })).toEqual([]);
    expect(await filesWith(box, 'x', { maxDepth: 0, path: 'f' })).toEqual(['f']);
    expect(await filesWith(box, 'x', { maxDepth: 1 })).toEqual(['f']);
    expect(await filesWith(box, 'x', { maxDepth: 2 })).toEqual(['a/f', 'f']);
    expect(await filesWith(box, 'x', { maxDepth: 1, path: 'a' })).toEqual(['a/f']);
  });

  test('literal, maxFileSize and skipHidden', async () => {
    using box = new Sandbox(chooseBackend().name);
    box.file('small', 'a.b');
    box.file('large', `a.b${' '.repeat(100)}`);
    box.file('other', 'axb');
    box.file('.hidden/f', 'a.b');
    const options = { literal: true, maxFileSize: 100, skipHidden: true };
    const { matches, filesSearched, filesMatched, skipped } = await search(box, 'a.b', options);
    expect(matches.map((match) => match.file)).toEqual(['small']);
    expect({ filesSearched, filesMatched, skipped }).toEqual({ filesSearched: 2, filesMatched: 1, skipped: 1 });
  });

  test('an invalid pattern is an error even without files', async () => {
    using box = new Sandbox(chooseBackend().name);
    const problem = 'error parsing regexp: missing closing ]: `[invalid`';
    await expect(search(box, '[invalid')).rejects.toMatchObject({ code: 'invalid_pattern', details: { problem } });
  });

  test('maxResults returns the first matches, and truncated only if there are more', async () => {
    using box = new Sandbox(chooseBackend().name);
    for (let i = 0; i < 700; i += 1) box.file(`d${i % 7}/f${i}`, 'match\nmatch\n');
    const all = await search(box, 'match', { maxResults: 2_000 });
    expect(all).toMatchObject({ totalMatches: 1_400, truncated: false });
    for (const maxResults of [0, 1, 5, 129, 1_399]) {
      const some = await search(box, 'match', { maxResults });
      expect(some).toMatchObject({ totalMatches: maxResults, truncated: true, timedOut: false });
      expect(some.matches).toEqual(all.matches.slice(0, maxResults));
    }
    expect(await search(box, 'match', { maxResults: 1_400 })).toMatchObject({
      totalMatches: 1_400,
      truncated: false,
    });
  });

  test('maxText limits the text of all matches', async () => {
    using box = new Sandbox(chooseBackend().name);
    for (let i = 10; i < 40; i += 1) box.file(`f${i}`, 'x'.repeat(100));
    const some = await search(box, 'x', { maxText: 1_050 });
    expect(some).toMatchObject({ totalMatches: 10, truncated: true });
    expect(some.matches.at(-1)?.file).toBe('f19');
    expect(await outcome(search(box, 'x', { maxText: 99 }))).toBe('result_too_large');
  });

  test.skipIf(cannotDropPrivileges)(
    `what cannot be read is left out and counted, unless it was named (${cannotDropPrivileges ?? 'as nobody'})`,
    async () => {
      using box = new Sandbox('openat2');
      box.file('a', 'x');
      box.file('closed/f', 'x');
      box.file('secret', 'x', 0o600);
      fs.chmodSync(box.host('closed'), 0o700);
      const script = `
        const { grep } = await from('search/grep.js');
        const { SearchPool } = await from('search/pool/search-pool.js');
        const pool = new SearchPool();
        const fixed = { pattern: 'x', caseInsensitive: false, contextLines: 0, maxResults: 10, timeoutSeconds: 20 };
        const search = (raw) => grep(root, { ...fixed, path: path(raw) }, pool, DEFAULT_CONTEXT);
        const { matches, skipped } = await search('.');
        const named = [await outcome(search('secret')), await outcome(search('closed'))];
        await pool.close();
        answer({ files: matches.map(({ file }) => file), skipped, named });`;
      const answer = await runChild(script, { folder: box.inside, unprivileged: true });
      const named = ['permission_denied', 'permission_denied'];
      expect(answer).toEqual({ files: ['a'], skipped: 2, named });
    },
  );

  test('aborting stops the search and rejects with the reason', async () => {
    using box = new Sandbox(chooseBackend().name);
    muchToSearch(box);
    const abort = new AbortController();
    const running = search(box, '[x]nowhere', {}, { signal: abort.signal, progress: () => {} });
    setTimeout(() => abort.abort(), 20);
    expect(await outcome(running)).toBe('cancelled');
    expect(await outcome(search(box, 'x', {}, { signal: abort.signal, progress: () => {} }))).toBe('cancelled');
    expect(await filesWith(box, 'match', { maxResults: 1 })).toEqual(['f1000']);
  });

  test('after a timeout the result is a prefix of the complete one', async () => {
    using box = new Sandbox(chooseBackend().name);
    const files = muchToSearch(box);
    // Increases the time limit until the search finds something.
    for (let timeoutSeconds = 0.001; ; timeoutSeconds *= 1.5) {
      const some = await search(box, '[m]atch', { timeoutSeconds });
      expect(some).toMatchObject({ timedOut: true, truncated: false });
      expect(some.matches.map((match) => match.file)).toEqual(files.slice(0, some.totalMatches));
      if (some.totalMatches > 0) break;
    }
  });

  test('reports progress', async () => {
    using box = new Sandbox(chooseBackend().name);
    muchToSearch(box);
    const abort = new AbortController();
    const reports: number[] = [];
    const progress = (done: number) => {
      reports.push(done);
      if (reports.length === 2) abort.abort();
    };
    expect(await outcome(search(box, '[x]nowhere', {}, { signal: abort.signal, progress }))).toBe('cancelled');
    expect(reports[0]).toBeGreaterThan(0);
    expect(reports[1]).toBeGreaterThan(reports[0] as number);
  });

  test('a file whose name is not UTF-8 is searched and shown', async () => {
    using box = new Sandbox(chooseBackend().name);
    const name = Buffer.concat([Buffer.from(`${box.inside}/d`), Buffer.from([0xff])]);
    fs.mkdirSync(name);
    fs.writeFileSync(Buffer.concat([name, Buffer.from([0x2f, 0xfe])]), 'needle');
    expect(await filesWith(box, 'needle')).toEqual(['d\ufffd/\ufffd']);
  });
});

describe('large files', () => {
  /** Lines of 100 bytes, some of which match. */
  function large(lines: number, matching: readonly number[]): string {
    const all = Array.from({ length: lines }, (_, i) => `${i + 1} `.padEnd(99, 'text without it '));
    for (const number of matching) all[number - 1] = `${number} needle`.padEnd(99, ' and more');
    return all.join('\n');
  }
  const LINES = 120_000;
  const MATCHING = [1, 41_944, 41_945, 60_000, 83_886, 119_999, LINES];

  test('have the same line numbers and context as small ones', async () => {
    using box = new Sandbox(chooseBackend().name);
    const content = large(LINES, MATCHING);
    expect(content.length).toBeGreaterThan(8 * 1024 * 1024);
    box.file('a', 'needle');
    box.file('large', content);
    box.file('z', 'needle');
    const lines = content.split('\n');
    const found = await search(box, 'needle', { contextLines: 3 });
    expect(found).toMatchObject({ totalMatches: 9, filesSearched: 3, filesMatched: 3, skipped: 0, truncated: false });
    expect(found.matches.slice(1, -1)).toEqual(
      MATCHING.map((number) => ({
        file: 'large',
        lineNumber: number,
        lineContent: lines[number - 1],
        contextBefore: lines.slice(Math.max(0, number - 4), number - 1),
        contextAfter: lines.slice(number, number + 3),
      })),
    );
    expect(found.matches.at(-1)).toMatchObject({ file: 'z', lineNumber: 1 });
    const alone = await search(box, 'needle', { path: 'large' });
    expect(alone.matches.map(({ lineNumber }) => lineNumber)).toEqual(MATCHING);
    expect(alone).toMatchObject({ filesSearched: 1, filesMatched: 1 });
    // The first match over the limit is in this file.
    for (const [maxResults, filesSearched] of [
      [0, 1],
      [1, 2],
      [3, 2],
      [7, 2],
      [8, 3],
    ] as const) {
      const some = await search(box, 'needle', { contextLines: 3, maxResults });
      expect(some.matches).toEqual(found.matches.slice(0, maxResults));
      expect(some).toMatchObject({ truncated: true, filesSearched });
    }
  });

  test('are skipped if binary or too large, and may have names that are not UTF-8', async () => {
    using box = new Sandbox(chooseBackend().name);
    const content = large(LINES, [100_000]);
    box.file('binary', `\0${content}`);
    box.file('z/new\nline', content);
    fs.writeFileSync(Buffer.concat([Buffer.from(`${box.inside}/z/`), Buffer.from([0xff])]), content);
    expect(await filesWith(box, 'needle')).toEqual(['z/new\nline', 'z/\ufffd']);
    expect(await search(box, 'needle', { maxFileSize: 1_000 })).toMatchObject({ totalMatches: 0, skipped: 3 });
  });
});

test('a tree larger than one task is searched in order and leaks no descriptor', async () => {
  using box = new Sandbox(chooseBackend().name);
  const paths: Buffer[] = [];
  const plant = (folder: string, name: Buffer) => {
    const file = Buffer.concat([Buffer.from(folder), name]);
    fs.mkdirSync(box.host(folder), { recursive: true });
    fs.writeFileSync(Buffer.concat([Buffer.from(`${box.inside}/`), file]), 'needle\n');
    paths.push(file);
  };
  for (let i = 0; i < 900; i += 1) plant('flat/', Buffer.from(`f${i}`));
  for (let i = 0; i < 300; i += 1) plant('flat/', Buffer.from([0x66, 0xff - (i % 100), 0x30 + (i % 75)]));
  for (let i = 0; i < 900; i += 1) plant(`deep/${'d/'.repeat(i % 30)}e${i % 7}/`, Buffer.from(`g${i}`));
  // Names that are not UTF-8 are sorted as they are shown.
  const shown = paths.map((raw) => [Buffer.from(raw.toString()), raw] as const);
  const inOrder = shown.sort((a, b) => Buffer.compare(a[0], b[0]) || Buffer.compare(a[1], b[1]));
  const expected = inOrder.map(([, raw]) => raw.toString());
  await search(box, 'warm');
  const open = () => fs.readdirSync('/proc/self/fd').length;
  const before = open();
  const found = await search(box, 'needle', { maxResults: 10_000 });
  expect(found.matches.map((match) => match.file)).toEqual(expected);
  expect(found).toMatchObject({ filesSearched: expected.length, filesMatched: expected.length, skipped: 0 });
  const counts = await Promise.all(
    Array.from({ length: 5 }, async () => (await search(box, 'needle', { maxResults: 1_000 })).filesSearched),
  );
  expect(counts).toEqual(counts.map(() => 1_001));
  await outcome(search(box, 'needle', { path: 'nowhere' }));
  // A thread closes its files shortly after a search that was stopped early has returned.
  await expect.poll(open, { timeout: 10_000 }).toBe(before);
});

test.each([
  { name: 'one file', files: 1, lines: 2_000 },
  { name: 'one large file, which is searched in ranges', files: 1, lines: 6_000 },
  { name: 'several files', files: 12, lines: 300 },
])(
  'every page of long matches with context can be reached: $name',
  async ({ files, lines }) => {
    using box = new Sandbox(chooseBackend().name);
    const expected: string[] = [];
    for (let file = 0; file < files; file += 1) {
      const name = `f${10 + file}`;
      box.file(name, Array.from({ length: lines }, (_, i) => `${i} ${'x'.repeat(1_900)}\n`).join(''));
      for (let line = 1; line <= lines; line += 1) expected.push(`${name}:${line}`);
    }
    const total = expected.length;
    const offsets = [0, 419, 422, lines - 1, Math.floor(total / 2), total - 30, total - 1];
    for (const offset of offsets) {
      const page = await search(box, 'x', { contextLines: 10, offset, maxResults: 50 });
      const found = page.matches.map(({ file, lineNumber }) => `${file}:${lineNumber}`);
      expect(found).toEqual(expected.slice(offset, offset + 50));
      expect(page.truncated).toBe(offset + 50 < total);
      const last = page.matches.at(-1);
      const lineNumber = last?.lineNumber ?? 0;
      expect(last?.contextBefore).toHaveLength(Math.min(10, lineNumber - 1));
      expect(last?.contextAfter).toHaveLength(Math.min(10, lines - lineNumber));
    }
    expect(await search(box, 'x', { contextLines: 10, offset: total })).toMatchObject({
      matches: [],
      truncated: false,
    });
  },
  30_000,
);
