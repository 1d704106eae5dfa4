import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { rgPath } from '@vscode/ripgrep';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { parseCallerPath, Root } from '../../src/fence/index.ts';
import { glob, grep, SearchPool } from '../../src/search/index.ts';
import { tempDir } from '../support/temp-dir.ts';

const pool = new SearchPool();
const base = tempDir();
afterAll(async () => {
  await pool.close();
  fs.rmSync(base, { recursive: true });
});

/** The files that ripgrep would search, told to look at the same rules as we do. */
function ripgrepFiles(top: string, start: string): string[] {
  const rules = ['--no-config', '--hidden', '--no-require-git', '--no-ignore-global', '--no-ignore-exclude'];
  const { stdout } = spawnSync(rgPath, [...rules, '-g', '!.git', '--files', '--null', '--', `./${start}`], {
    cwd: top,
    encoding: 'utf8',
    maxBuffer: 1e8,
  });
  const files = stdout.split('\0').filter((file) => file !== '');
  return files.map((file) => path.posix.normalize(file)).sort();
}

async function ourFiles(top: string, start: string): Promise<string[]> {
  using root = Root.open('w', top);
  const where = { path: parseCallerPath(start), ignore: true, maxResults: 1_000_000 };
  const { matches } = await glob(root, { pattern: '**', type: 'file', ...where }, pool);
  const found = matches.map((match) => match.path).sort();
  const searched = await grep(root, { pattern: '', output: 'files', ...where }, pool);
  // Files that are empty or binary have no line that could match.
  expect(found).toEqual(expect.arrayContaining(searched.files.map(({ file }) => file)));
  return found;
}

const NAMES = ['a', 'b', 'ab', 'a.b', 'a b', 'a ', '!a', '#a', 'a*', 'A', '.x', 'a[b', 'a\\b', 'x{y}', 'x,y'];
const name = fc.constantFrom(...NAMES);
const folders = fc.array(fc.array(name, { maxLength: 3 }), { minLength: 1, maxLength: 8 });
const files = fc.array(fc.array(name, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 25 });

const segment = fc.oneof(
  { weight: 4, arbitrary: name },
  {
    weight: 5,
    arbitrary: fc
      .array(
        fc.constantFrom('a', 'b', '*', '?', '.', 'x', '[ab]', '[!b]', '[a-z]', '[]a]', '\\', '\\a', '\\*', '\\ ', ' '),
        {
          minLength: 1,
          maxLength: 4,
        },
      )
      .map((parts) => parts.join('')),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom('*', '**', '*.b', 'a*', '{a,b}', 'a{,b}', '{a,.{x,b}}', 'x\\{y\\}', '[', 'a]', '{a'),
  },
);
const rule = fc
  .tuple(
    fc.constantFrom('', '', '', '!', '#', '\\!', '\\#'),
    fc.constantFrom('', '', '', '/', '**/'),
    fc.array(segment, { minLength: 1, maxLength: 3 }),
    fc.constantFrom('', '', '/', '/**', '/*', ' ', '\\ ', '\t'),
  )
  .map(([sign, start, segments, end]) => sign + start + segments.join('/') + end)
  // ripgrep lets a class match a slash; git and we do not.
  .filter((line) => !(line.includes('[!') && line.includes('/')) && !/\[[^\]]*\/.*\]/.test(line));
const ruleFile = fc.tuple(
  fc.array(name, { maxLength: 2 }),
  fc.constantFrom('.gitignore', '.gitignore', '.ignore'),
  fc.array(rule, { minLength: 1, maxLength: 6 }),
);

interface Tree {
  readonly folders: string[][];
  readonly files: string[][];
  readonly rules: [folder: string[], file: string, lines: string[]][];
}

function makeTree(top: string, tree: Tree): void {
  fs.rmSync(top, { recursive: true, force: true });
  fs.mkdirSync(top, { recursive: true });
  const put = (names: readonly string[], make: (host: string) => void) => {
    try {
      fs.mkdirSync(path.join(top, ...names.slice(0, -1)), { recursive: true });
      make(path.join(top, ...names));
    } catch {
      // A file is where a folder should be, or the other way round: the tree does without it.
    }
  };
  for (const folder of tree.folders) put([...folder, '.'], () => {});
  for (const [folder, file, lines] of tree.rules)
    put([...folder, file], (host) => fs.writeFileSync(host, lines.join('\n')));
  for (const file of tree.files) put(file, (host) => fs.writeFileSync(host, 'x\n'));
}

test('rules leave out what they leave out for ripgrep', async () => {
  const top = path.join(base, 'generated');
  const tree = fc.record({ folders, files, rules: fc.array(ruleFile, { minLength: 1, maxLength: 4 }) });
  await fc.assert(
    fc.asyncProperty(tree, fc.nat(), async (generated, at) => {
      makeTree(top, generated as Tree);
      const starts = ['', ...generated.folders.map((folder) => folder.join('/'))];
      for (const start of ['', starts[at % starts.length] as string]) {
        if (!fs.statSync(path.join(top, start), { throwIfNoEntry: false })?.isDirectory()) continue;
        expect(await ourFiles(top, start), `from "${start}"`).toEqual(ripgrepFiles(top, start));
      }
    }),
    { numRuns: Number(process.env.RUNS ?? 300) },
  );
}, 120_000);

test('in this repository, with its node_modules, we find the files that ripgrep finds', async () => {
  const repository = fileURLToPath(new URL('../..', import.meta.url));
  const found = await ourFiles(repository, '');
  expect(found).toEqual(ripgrepFiles(repository, ''));
  expect(found).toContain('.gitignore');
  expect(found.filter((file) => /^(node_modules|dist|\.git)\//.test(file))).toEqual([]);
  expect(await ourFiles(repository, 'node_modules/zod')).toEqual(ripgrepFiles(repository, 'node_modules/zod'));
}, 60_000);
