import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import fc from 'fast-check';
import { minimatch } from 'minimatch';
import { RE2JS } from 're2js';
import { afterAll, expect, test } from 'vitest';
import { chooseBackend, parseCallerPath } from '../../src/fence/index.ts';
import { Sandbox } from '../../src/fence/sandbox.fixture.ts';
import { DEFAULT_CONTEXT } from '../../src/runtime/operation-context.ts';
import { glob, grep, SearchPool } from '../../src/search/index.ts';

const pool = new SearchPool();
afterAll(() => pool.close());

const backend = chooseBackend().name;

/** Few different names, so that files and folders often share beginnings; some that sort or read oddly. */
const name = fc.constantFrom(
  'a',
  'b',
  'a.b',
  'a-b',
  'a0',
  '-x',
  '.h',
  'new\nline',
  '\u{ff01}',
  '\u{1f600}',
  'A',
  'a b',
);
const content = fc
  .array(fc.constantFrom('foo', 'bar', 'Foo bar', '', 'fo\r', 'k\u212a', 'ſs', 'x'.repeat(3), '\ufffd é'), {
    maxLength: 8,
  })
  .chain((lines) => fc.constantFrom(lines.join('\n'), `${lines.join('\n')}\n`));
const tree = fc.array(fc.tuple(fc.array(name, { minLength: 1, maxLength: 4 }), content), { maxLength: 20 });

const REGEXES = [
  '',
  'foo',
  'fo+',
  '^foo$',
  'foo|bar',
  '[a-f]o',
  'b.r',
  '\\br\\w*',
  'k',
  's',
  'x{3}',
  'o\\s*$',
  'é',
  '(?i)FOO',
  'foo\\nbar',
];
const GLOBS = [
  '*',
  '**',
  '*a*',
  '**/a*',
  'a/**',
  '*/*',
  '**/a/**',
  '{a,b}/*',
  '[ab]',
  '**/.h',
  '?',
  'a/',
  './a*',
  '**/*.b/**',
];

function plant(box: Sandbox, files: [string[], string][]): void {
  for (const [names, text] of files) {
    try {
      box.file(names.join('/'), text);
    } catch (error) {
      // A folder is in the way of the file, or a file in the way of its folder: the first one stays.
      if (!['EEXIST', 'EISDIR', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
}

/** All paths below, sorted as UTF-8 bytes, which is the order of code points. */
function naivePaths(folder: string): string[] {
  const paths = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return paths.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

function naiveGrep(folder: string, regex: RE2JS, contextLines: number) {
  return naivePaths(folder).flatMap((file) => {
    const host = path.join(folder, file);
    if (!fs.statSync(host).isFile()) return [];
    const lines = fs.readFileSync(host, 'utf8').split('\n');
    if (lines.at(-1) === '') lines.pop();
    return lines.flatMap((lineContent, i) =>
      regex.test(lineContent)
        ? {
            ...{ file, lineNumber: i + 1, lineContent },
            contextBefore: lines.slice(Math.max(0, i - contextLines), i),
            contextAfter: lines.slice(i + 1, i + 1 + contextLines),
          }
        : [],
    );
  });
}

test('grep finds what a naive search finds, and with a limit the beginning of it', async () => {
  await fc.assert(
    fc.asyncProperty(
      tree,
      fc.constantFrom(...REGEXES),
      fc.record({ caseInsensitive: fc.boolean(), contextLines: fc.nat(3), maxResults: fc.nat(30) }),
      async (files, pattern, options) => {
        using box = new Sandbox(backend);
        plant(box, files);
        const regex = RE2JS.compile(pattern, options.caseInsensitive ? RE2JS.CASE_INSENSITIVE : 0);
        const expected = naiveGrep(box.inside, regex, options.contextLines);
        const found = await grep(
          box.root,
          { pattern, path: parseCallerPath('.'), timeoutSeconds: 60, ...options },
          pool,
          DEFAULT_CONTEXT,
        );
        expect(found.matches).toEqual(expected.slice(0, options.maxResults));
        expect(found.truncated).toBe(expected.length > options.maxResults);
      },
    ),
    { numRuns: 150 },
  );
});

test('glob finds what matching every path finds, in the same order', async () => {
  const globs = fc.constantFrom(...GLOBS);
  await fc.assert(
    fc.asyncProperty(tree, globs, fc.option(fc.nat(4)), async (files, pattern, maxDepth) => {
      using box = new Sandbox(backend);
      plant(box, files);
      const folders = pattern.endsWith('/');
      const bare = pattern.replace(/^\.\/|\/$/g, '');
      const expected = naivePaths(box.inside).filter((file) => {
        if (maxDepth !== null && file.split('/').length > maxDepth) return false;
        if (folders && !fs.statSync(box.host(file)).isDirectory()) return false;
        return minimatch(file, bare, { dot: true, nonegate: true, nocomment: true });
      });
      const found = await glob(
        box.root,
        {
          ...{ pattern, path: parseCallerPath('.'), type: 'all', maxResults: 1_000, timeoutSeconds: 60 },
          maxDepth: maxDepth ?? undefined,
        },
        pool,
        DEFAULT_CONTEXT,
      );
      expect(found.matches.map((match) => match.path)).toEqual(expected);
    }),
    { numRuns: 150 },
  );
});

test('grep finds what ripgrep finds', async () => {
  using box = new Sandbox(backend);
  const words = [
    'alpha',
    'Beta',
    'gamma_delta',
    'fn main()',
    '0x1F',
    'TODO: later',
    'naïve',
    'k\u212a',
    '"quoted"',
    '😀',
  ];
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((seed / 2 ** 31) * below);
  };
  for (let i = 0; i < 400; i += 1) {
    const lines = Array.from({ length: random(40) }, () =>
      Array.from({ length: random(8) }, () => words[random(words.length)]).join(' '),
    );
    box.file(`d${random(6)}/${['e', 'e.x', '.e', 'e-'][random(4)]}/f${i}`, lines.join('\n'));
  }
  box.file('binary', 'alpha\0alpha\n');
  box.file('large', Array.from({ length: 30_000 }, (_, i) => `${i} ${words[i % 9]}`).join('\n'));
  box.link('large', 'link');
  for (const [pattern, ...flags] of [
    ['alpha'],
    ['alpha|TODO'],
    ['^alpha'],
    ['delta$'],
    ['\\bmain\\b'],
    ['0x[0-9A-F]+'],
    ['na.ve'],
    ['beta', '-i'],
    ['k', '-i'],
    ['\\d{4} '],
    ['(fn|TODO).*(later|main)'],
    ['😀 😀'],
    ['^$'],
    ['nowhere at all'],
  ] as [string, ...string[]][]) {
    const args = ['--no-config', '-uu', '--hidden', '--no-heading', '--with-filename', '-n', '--null', ...flags];
    const { stdout } = spawnSync(rgPath, [...args, '-e', pattern, '.'], { cwd: box.inside, maxBuffer: 2 ** 28 });
    const expected = stdout.toString().split('\n').filter(Boolean).sort();
    const found = await grep(
      box.root,
      {
        ...{ pattern, path: parseCallerPath('.'), caseInsensitive: flags.includes('-i'), contextLines: 0 },
        ...{ maxResults: 1_000_000, timeoutSeconds: 60 },
      },
      pool,
      DEFAULT_CONTEXT,
    );
    const lines = found.matches.map((match) => `./${match.file}\0${match.lineNumber}:${match.lineContent}`);
    expect([...lines].sort(), pattern).toEqual(expected);
    expect(found.truncated).toBe(false);
  }
});
