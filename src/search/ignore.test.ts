import { afterAll, expect, test } from 'vitest';
import { chooseBackend, parseCallerPath } from '../fence/index.ts';
import { onEveryBackend, Sandbox } from '../fence/sandbox.fixture.ts';
import { glob } from './glob.ts';
import { type GrepOptions, grep } from './grep.ts';
import { SearchPool } from './pool/search-pool.ts';

const pool = new SearchPool();
afterAll(() => pool.close());

type Options = Partial<Omit<GrepOptions, 'path'>> & { path?: string };

function search(box: Sandbox, { path = '.', ...options }: Options = {}, on = pool) {
  const common = { pattern: 'x', path: parseCallerPath(path), output: 'files' as const, ignore: true };
  return grep(box.root, { ...common, maxResults: 10_000, ...options }, on);
}

async function found(box: Sandbox, options?: Options): Promise<string[]> {
  return (await search(box, options)).files.map(({ file }) => file);
}

onEveryBackend((open) => {
  test('rules of nested files apply from the root down, .ignore before .gitignore', async () => {
    using box = open();
    box.file('.gitignore', '*.log\n*.tmp\n/a/skip/\n');
    box.file('a/.gitignore', '!keep.log\n');
    box.file('a/b/.ignore', '!*.log\nno.md\n');
    for (const name of [
      'x.log',
      'a/keep.log',
      'a/x.log',
      'a/b/x.log',
      'a/b/no.md',
      'a/skip/x',
      'a/b/skip/x',
      'a/b/y.tmp',
      '.git/x',
    ])
      box.file(name, 'x');
    const inB = ['a/b/skip/x', 'a/b/x.log'];
    expect(await found(box)).toEqual([...inB, 'a/keep.log']);
    expect(await found(box, { path: 'a/b' })).toEqual(inB);
    expect(await found(box, { path: 'a/skip' })).toEqual(['a/skip/x']);
    expect(await found(box, { ignore: false, path: 'a/b' })).toEqual(['a/b/no.md', ...inB, 'a/b/y.tmp']);
    const { matches, ignored } = await glob(box.root, { pattern: '**/*x*', type: 'file', ignore: true }, pool);
    expect([matches.map((match) => match.path), ignored]).toEqual([inB, 6]);
  });

  test('a rule file that is a link, a folder or huge', async () => {
    using box = open();
    box.file('rules', '*\n');
    box.link('rules', '.gitignore');
    box.link(`${box.outside}/secret`, 'a/.ignore');
    box.folder('b/.gitignore');
    box.file('c/.gitignore', `${'# comment\n'.repeat(30_000)}*\n`);
    box.file('d/.gitignore', Buffer.concat([Buffer.from('y\n'), Buffer.alloc(300_000, 'x')]));
    for (const name of ['a/secret', 'b/y', 'c/y', 'd/y', 'd/x']) box.file(name, 'x');
    expect(await found(box)).toEqual(['a/secret', 'b/y', 'c/y', 'd/.gitignore', 'd/x']);
  });
});

test('workers that continue deep in a tree keep the rules above, and counts do not depend on their number', async () => {
  using box = new Sandbox(chooseBackend().name);
  box.file('.gitignore', '*.no\nskipped/\n');
  const expected: string[] = [];
  for (let i = 0; i < 600; i += 1) {
    const folder = `f${i % 10}/g${i % 100}/h${i % 200}`;
    if (i % 100 === 0) box.file(`f${i % 10}/g${i % 100}/.gitignore`, '!kept.no\n');
    box.file(`${folder}/${i}.no`, 'x');
    box.file(`${folder}/skipped/${i}`, 'x');
    box.file(`${folder}/${i}.yes`, 'x'.repeat(2_000));
    expected.push(`${folder}/${i}.yes`);
    box.file(`${folder}/kept.no`, 'x');
    if (i % 100 === 0) expected.push(`${folder}/kept.no`);
  }
  await using single = new SearchPool({ size: 1 });
  for (const on of [single, pool, pool]) {
    const all = await search(box, {}, on);
    expect(all.files.map(({ file }) => file)).toEqual([...new Set(expected)].sort());
    // Each of 200 folders has 3 files and one folder that are ignored, and all but two have kept.no.
    expect(all.ignored).toBe(600 + 200 + 198);
    const page = await search(box, { maxResults: 7, offset: 300 }, on);
    expect(page).toMatchObject({ files: all.files.slice(300, 307), truncated: true });
    expect(page.ignored).toBe((await search(box, { maxResults: 7, offset: 300 }, single)).ignored);
  }
}, 30_000);

test('pages go on behind more text than one result may have', async () => {
  using box = new Sandbox(chooseBackend().name);
  for (let i = 0; i < 40; i += 1) box.file(`f${10 + i}`, `${'x'.repeat(1_000)}\n`.repeat(10));
  const lines = { output: 'lines' as const, maxText: 50_000 };
  const seen: string[] = [];
  for (let more = true; more; ) {
    const page = await search(box, { ...lines, offset: seen.length });
    seen.push(...page.matches.map(({ file, lineNumber }) => `${file}:${lineNumber}`));
    expect(page.matches.length).toBeLessThanOrEqual(50);
    more = page.truncated;
  }
  expect(new Set(seen).size).toBe(400);
  expect(seen).toHaveLength(400);
});
