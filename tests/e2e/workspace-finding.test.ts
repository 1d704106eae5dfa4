import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { expect, test } from 'vitest';
import { startServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';
import { newClient } from '../support/tool-client.ts';
import { inWorkspace, type Workspace } from '../support/workspace.ts';

const REPOSITORY = {
  '.gitignore': 'node_modules/\n*.log\n!keep.log\n/dist\n',
  '.git/config': 'hit',
  'dist/out.js': 'hit',
  'keep.log': 'hit',
  'node_modules/m/index.js': 'hit',
  'node_modules/m/trace.log': 'hit',
  'src/.ignore': 'gen/**\n',
  'src/a.ts': 'hit\nhit\n',
  'src/b.py': 'none\nhit\n',
  'src/dist/c.ts': 'hit',
  'src/gen/d.ts': 'hit',
  'src/trace.log': 'hit',
};

function makeRepository(w: Workspace): void {
  for (const [name, content] of Object.entries(REPOSITORY)) w.file(name, content);
}

inWorkspace({}, (w) => {
  async function files(args: object): Promise<string[]> {
    return (await w.ok('grep', { pattern: 'hit', output: 'files', ...args })).files;
  }
  async function paths(args: object): Promise<string[]> {
    return (await w.ok('glob', { ...args })).matches.map((match: { path: string }) => match.path);
  }
  async function hint(tool: string, args: object): Promise<string> {
    const result = await w.ok(tool, { ...args });
    expect(result.total_matches).toBe(0);
    return result.hint;
  }

  test('searches skip what ignore files and .git rule out, and say so', async () => {
    makeRepository(w);
    const found = ['keep.log', 'src/a.ts', 'src/b.py', 'src/dist/c.ts'];
    expect(await w.ok('grep', { pattern: 'hit', output: 'files' })).toEqual({
      matches: [],
      files: found,
      total_matches: 4,
      truncated: false,
      timed_out: false,
      files_searched: 6,
      // .git, dist, node_modules, src/gen/d.ts, src/trace.log
      ignored: 5,
    });
    expect(await paths({ pattern: '**', type_filter: 'file' })).toEqual([
      '.gitignore',
      ...found.slice(0, 1),
      'src/.ignore',
      ...found.slice(1),
    ]);
    expect((await w.ok('glob', { pattern: '**' })).ignored).toBe(5);
    const all = Object.keys(REPOSITORY).sort();
    expect(await paths({ pattern: '**', type_filter: 'file', include_ignored: true })).toEqual(all);
    expect(await files({ include_ignored: true })).toEqual(all.filter((name) => !name.endsWith('ignore')));
    expect(await w.ok('grep', { pattern: 'hit', include_ignored: true })).not.toHaveProperty('ignored');
  });

  test('rules of the folders above path apply; path itself is searched even if they rule it out', async () => {
    makeRepository(w);
    expect(await files({ path: 'src' })).toEqual(['src/a.ts', 'src/b.py', 'src/dist/c.ts']);
    expect(await files({ path: 'node_modules/m' })).toEqual(['node_modules/m/index.js']);
    expect(await files({ path: 'src/trace.log' })).toEqual(['src/trace.log']);
    expect(await files({ path: '.git' })).toEqual(['.git/config']);
    expect(await paths({ pattern: '*', path: 'dist' })).toEqual(['dist/out.js']);
  });

  test('rules above the root and behind links have no effect', async () => {
    fs.writeFileSync(path.join(w.base, '.gitignore'), '*');
    w.file('rules', '*', 'outside');
    w.file('inside', 'a.txt');
    w.link('../outside/rules', '.gitignore');
    w.link('inside', '.ignore');
    w.file('a.txt', 'hit');
    expect(await files({})).toEqual(['a.txt']);
    fs.rmSync(path.join(w.base, '.gitignore'));
  });

  test('grep returns lines, files or counts', async () => {
    w.file('a.txt', 'hit\nno\nhit');
    w.file('b.txt', 'no');
    w.file('c.txt', 'a hit\n');
    w.file('large.txt', `${'hit\n'.repeat(3_000_000)}`);
    expect((await w.ok('grep', { pattern: 'hit', output: 'counts' })).counts).toEqual([
      { file: 'a.txt', count: 2 },
      { file: 'c.txt', count: 1 },
      { file: 'large.txt', count: 3_000_000 },
    ]);
    expect(await files({})).toEqual(['a.txt', 'c.txt', 'large.txt']);
    const some = await w.ok('grep', { pattern: 'hit', output: 'counts', max_results: 1, offset: 1 });
    expect(some).toMatchObject({ counts: [{ file: 'c.txt', count: 1 }], truncated: true, next: { offset: 2 } });
    const last = await w.ok('grep', { pattern: 'hit', output: 'counts', offset: 2 });
    expect(last.counts).toEqual([{ file: 'large.txt', count: 3_000_000 }]);
    expect(last).not.toHaveProperty('next');
  });

  test('pages by offset hold every match once', async () => {
    for (const name of ['a', 'b/c', 'b.c', 'd']) w.file(name, 'hit\n'.repeat(7));
    const all = (await w.ok('grep', { pattern: 'hit', context_lines: 1 })).matches;
    const pages = [];
    let next: { offset?: number } | undefined = {};
    for (; next !== undefined; ) {
      const page = await w.ok('grep', { pattern: 'hit', context_lines: 1, max_results: 5, ...next });
      pages.push(...page.matches);
      expect(page.truncated).toBe(page.next !== undefined);
      next = page.next;
    }
    expect(pages).toEqual(all);
    expect(pages).toHaveLength(28);
    expect(await paths({ pattern: '**', offset: 1, max_results: 2 })).toEqual(['b', 'b.c']);
    expect(await w.ok('glob', { pattern: '**', offset: 3 })).toMatchObject({ total_matches: 2, truncated: false });
    expect(await hint('grep', { pattern: 'hit', offset: 28 })).toBe('no match from offset 28 on');
  });

  test('pages of long matches with context go on to the last one', async () => {
    w.file('long.txt', `${'x'.repeat(1_900)}\n`.repeat(2_000));
    const seen: number[] = [];
    for (let next: { offset?: number } | undefined = { offset: 400 }; next !== undefined; ) {
      const page = await w.ok('grep', { pattern: 'x', context_lines: 10, max_results: 1_000, ...next });
      expect(page.truncated).toBe(page.next !== undefined);
      expect(page).not.toHaveProperty('hint');
      seen.push(...page.matches.map((match: { line_number: number }) => match.line_number));
      next = page.next;
    }
    expect(seen).toEqual(Array.from({ length: 1_600 }, (_, index) => 401 + index));
  });

  test('grep takes a type of files as ripgrep knows it', async () => {
    for (const name of ['a.ts', 'b.tsx', 'c.mts', 'd.js', 'Makefile', 'ts', 'e.ts.bak']) w.file(name, 'hit');
    expect(await files({ type: 'ts' })).toEqual(['a.ts', 'b.tsx', 'c.mts']);
    expect(await files({ type: 'make' })).toEqual(['Makefile']);
    expect(await files({ type: 'ts', glob_filter: 'b*' })).toEqual(['b.tsx']);
    expect(await w.fails('grep', { pattern: 'hit', type: 'tsx' })).toContain('unknown file type "tsx"; use ts');
    expect(await w.fails('grep', { pattern: 'hit', type: 'constructor' })).toContain('like ts, js, py');
  });

  test('exclude leaves out files and folders, by name or by path', async () => {
    for (const name of ['a.ts', 'a.min.js', 'lib/a.min.js', 'lib/gen/x.ts', 'gen/x.ts', 'gen.ts']) w.file(name, 'hit');
    expect(await files({ exclude: ['*.min.js', 'gen'] })).toEqual(['a.ts', 'gen.ts']);
    expect(await files({ exclude: ['/gen', 'lib/*.js'] })).toEqual(['a.min.js', 'a.ts', 'gen.ts', 'lib/gen/x.ts']);
    expect(await files({ exclude: ['gen/**'], path: 'lib' })).toEqual(['lib/a.min.js']);
    expect(await paths({ pattern: '**/*.ts', exclude: ['gen/'] })).toEqual(['a.ts', 'gen.ts']);
    expect(await paths({ pattern: '**', exclude: ['*.*', 'lib'] })).toEqual(['gen']);
    expect(await w.fails('glob', { pattern: '**', exclude: ['['] })).toContain('invalid pattern');
  });

  test('glob sorts by time, newest first', async () => {
    for (const [index, name] of ['b', 'c', 'a', 'd/e'].entries()) fs.utimesSync(w.file(name), index, index);
    const args = { pattern: '**', type_filter: 'file', sort_by: 'modified' };
    expect(await paths(args)).toEqual(['d/e', 'a', 'c', 'b']);
    const page = await w.ok('glob', { ...args, max_results: 2, offset: 1 });
    expect(page).toMatchObject({ matches: [{ path: 'a' }, { path: 'c' }], truncated: true, next: { offset: 3 } });
    expect(await w.ok('glob', { ...args, offset: 3 })).toMatchObject({ matches: [{ path: 'b' }], truncated: false });
    for (const name of ['b', 'c', 'a', 'd/e']) fs.utimesSync(w.host(name), 1, 1);
    expect(await paths(args)).toEqual(['a', 'b', 'c', 'd/e']);
  });

  test('a search without a result says why', async () => {
    makeRepository(w);
    const ignored = '; 5 ignored entries were skipped, include_ignored: true searches them';
    expect(await hint('grep', { pattern: 'zzz' })).toBe(`no match in 6 files${ignored}`);
    expect(await hint('grep', { pattern: 'hit\\nhit', path: 'keep.log' })).toBe(
      'no match in 1 file; lines are matched one by one, without their \\n',
    );
    expect(await hint('grep', { pattern: 'a\\\\nb', path: 'keep.log' })).toBe('no match in 1 file');
    expect(await hint('grep', { pattern: 'hit', glob_filter: '*.rs' })).toBe(
      `no match in 0 files: none of 6 passes glob_filter${ignored}`,
    );
    expect(await hint('grep', { pattern: 'hit', glob_filter: '!*.ts', path: 'src/dist' })).toBe(
      'no match in 0 files: none of 1 passes glob_filter; a leading "!" in glob_filter does not negate it; use exclude',
    );
    expect(await hint('grep', { pattern: 'hit', glob_filter: 'src/dist/*.ts', path: './src/dist/' })).toBe(
      'no match in 0 files: none of 1 passes glob_filter; glob_filter is relative to path; write "*.ts"',
    );
    expect(await hint('grep', { pattern: 'hit', glob_filter: 'src/*.ts', path: 'src/a.ts', type: 'ts' })).toBe(
      'no match in 0 files: none of 1 passes glob_filter, type; path is a file: leave them out',
    );
    expect(await hint('grep', { pattern: 'hit', path: 'src/gen' })).toBe(
      'no files to search there; 1 ignored entry was skipped, include_ignored: true searches them',
    );
    w.file('data/x.bin', 'hit\0');
    expect(await hint('grep', { pattern: 'hit', path: 'data' })).toBe(
      'no match in 0 files: what is there is binary or unreadable',
    );
    expect(await hint('glob', { pattern: '*.ts', path: 'data' })).toBe(
      'no match among 1 entry; pattern matches direct children of path; "**/*.ts" matches at any depth',
    );
    expect(await hint('glob', { pattern: 'data/*.ts', path: 'data' })).toBe(
      'no match among 1 entry; pattern is relative to path; write "*.ts"',
    );
    expect(await hint('glob', { pattern: '!**/x', path: 'data' })).toBe(
      'no match among 1 entry; a leading "!" in pattern does not negate it; use exclude',
    );
    expect(await hint('glob', { pattern: '../*', path: 'data' })).toBe(
      'no match among 1 entry; ".." in pattern matches nothing; search the folder above with path',
    );
    expect(await hint('glob', { regex: 'zzz', path: 'data' })).toBe('no match among 1 entry');
  });
});

test('text for a reader has files, counts and what was left out, and is cut at a whole match', async () => {
  const tree = tempDir();
  fs.mkdirSync(path.join(tree, 'node_modules'));
  fs.writeFileSync(path.join(tree, '.gitignore'), 'node_modules\n');
  for (const name of ['a.txt', 'b.txt', 'c.txt'])
    fs.writeFileSync(path.join(tree, name), `before\n${`hit ${'x'.repeat(200)}\n`.repeat(3)}after\n`);
  await using server = await startServer({
    roots: [{ name: 'w', path: tree }],
    config: { max_result_chars: 1_000 },
    client: newClient('legacy', {}, 'claude-code'),
  });
  const text = async (tool: string, args: object) => (await server.call(tool, { root: 'w', ...args })).text;
  const ignored = '[1 ignored entry skipped]';
  expect(await text('grep', { pattern: 'hit', output: 'files' })).toBe(`a.txt\nb.txt\nc.txt\n${ignored}`);
  expect(await text('grep', { pattern: 'hit', output: 'counts' })).toBe(`a.txt:3\nb.txt:3\nc.txt:3\n${ignored}`);
  expect(await text('glob', { pattern: '?.txt', max_results: 2 })).toBe(
    'a.txt\nb.txt\n[there are more; 1 ignored entry skipped; next: {"offset":2}]',
  );
  const printed = spawnSync(rgPath, ['--heading', '-n', '--sort', 'path', '-C', '1', '-e', 'hit'], {
    cwd: tree,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  }).stdout;
  let offset = 0;
  const seen: string[] = [];
  for (let pages = 0; pages < 9; pages += 1) {
    const page = await text('grep', { pattern: 'hit', context_lines: 1, offset });
    expect(page.length).toBeLessThan(1_200);
    const [, lines = '', next] = /^(.*\n)(?:\[.*next: ({.*})\]|\[.*\])$/s.exec(page) ?? [];
    seen.push(...lines.split('\n').filter((line) => /^\d+:/.test(line)));
    if (next === undefined) break;
    offset = JSON.parse(next).offset;
  }
  expect(seen).toEqual(printed.split('\n').filter((line) => /^\d+:/.test(line)));
  fs.rmSync(tree, { recursive: true });
});
