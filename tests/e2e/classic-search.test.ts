import { describe, expect, test } from 'vitest';
import { BoundServer } from '../support/bound-server.ts';

interface Found {
  readonly matches: { file: string; matches: { line_number: number; line: string }[] }[];
}

/** `file:line` of each match. */
function places({ matches }: Found): string[] {
  return matches.flatMap(({ file, matches }) => matches.map(({ line_number }) => `${file}:${line_number}`));
}

async function tree(): Promise<BoundServer<'classic'>> {
  const box = await BoundServer.start('classic');
  box.file('a.txt', 'first\nNeedle here\nthird\nneedle again\nfifth\n');
  box.file('sub/b.txt', 'no\nneedle');
  box.file('sub/c.md', 'needle (md)\n');
  box.file('.hidden/d', 'needle\n');
  box.file('none', 'nothing\n');
  box.file('binary', Buffer.from('needle\0needle'));
  return box;
}

test('filesystem-server/search: every field of the response', async () => {
  await using box = await tree();
  expect(await box.ok('search', { root_path: '.', pattern: 'needle', file_pattern: '*.txt' })).toEqual({
    total_matches: 3,
    files_searched: 2,
    files_matched: 2,
    matches: [
      {
        file: 'a.txt',
        matches: [
          { line_number: 2, line: 'Needle here', context: [] },
          { line_number: 4, line: 'needle again', context: [] },
        ],
      },
      { file: 'sub/b.txt', matches: [{ line_number: 2, line: 'needle', context: [] }] },
    ],
  });
});

test('filesystem-server/search: context includes the match itself, as far as there are lines', async () => {
  await using box = await tree();
  const args = { root_path: 'a.txt', pattern: 'needle', case_sensitive: true, context_lines: 2 };
  expect((await box.ok('search', args)).matches).toEqual([
    {
      file: 'a.txt',
      matches: [
        {
          line_number: 4,
          line: 'needle again',
          context: [
            { line_number: 2, content: 'Needle here' },
            { line_number: 3, content: 'third' },
            { line_number: 4, content: 'needle again' },
            { line_number: 5, content: 'fifth' },
          ],
        },
      ],
    },
  ]);
});

describe('filesystem-server/search: what is found', () => {
  test.each([
    [{}, ['.hidden/d:1', 'a.txt:2', 'a.txt:4', 'sub/b.txt:2', 'sub/c.md:1']],
    [{ case_sensitive: true }, ['.hidden/d:1', 'a.txt:4', 'sub/b.txt:2', 'sub/c.md:1']],
    [{ recursive: false }, ['a.txt:2', 'a.txt:4']],
    [{ root_path: 'sub' }, ['sub/b.txt:2', 'sub/c.md:1']],
    [{ root_path: 'sub/b.txt' }, ['sub/b.txt:2']],
    [{ file_pattern: '*.md' }, ['sub/c.md:1']],
    [{ file_pattern: 'sub/*' }, ['sub/b.txt:2', 'sub/c.md:1']],
    [{ pattern: 'NEEDLE (' }, ['sub/c.md:1']],
    [{ pattern: 'n.edle' }, []],
    [{ pattern: 'n.edle', regex: true }, ['.hidden/d:1', 'a.txt:2', 'a.txt:4', 'sub/b.txt:2', 'sub/c.md:1']],
    [{ pattern: '^n.*[ag]ain$', regex: true, case_sensitive: true }, ['a.txt:4']],
    [{ pattern: '\\bagain\\b', regex: true }, ['a.txt:4']],
  ])('%j', async (args, expected) => {
    await using box = await tree();
    const found = await box.ok('search', { root_path: '.', pattern: 'needle', ...args });
    expect(places(found)).toEqual(expected);
    expect(found.total_matches).toBe(expected.length);
    expect(found.files_matched).toBe(new Set(expected.map((place) => place.split(':')[0])).size);
    expect(found).not.toHaveProperty('truncated');
  });
});

test('filesystem-server/search: files over max_file_size are left out, those of just that size are not', async () => {
  await using box = await BoundServer.start('classic');
  box.file('nine', 'needle123');
  box.file('ten', 'needle1234');
  const found = await box.ok('search', { root_path: '.', pattern: 'needle', max_file_size: 9 });
  expect([places(found), found.files_searched]).toEqual([['nine:1'], 1]);
});

test('filesystem-server/search: max_results cuts, says so, and the counts fit what is returned', async () => {
  await using box = await BoundServer.start('classic');
  box.file('a', 'x\n'.repeat(60));
  box.file('b', 'x\n'.repeat(60));
  const args = { root_path: '.', pattern: 'x' };
  expect(await box.ok('search', args)).toMatchObject({ total_matches: 100, files_matched: 2, truncated: true });
  const one = await box.ok('search', { ...args, max_results: 1 });
  expect(one).toMatchObject({ total_matches: 1, files_matched: 1, truncated: true });
  expect(one.files_searched).toBeGreaterThanOrEqual(1);
  expect(await box.ok('search', { ...args, max_results: 120 })).not.toHaveProperty('truncated');
  expect((await box.ok('search', { ...args, max_results: 1e9 })).total_matches).toBe(120);
});

test('filesystem-server/search: line ends, marks and odd bytes', async () => {
  await using box = await BoundServer.start('classic');
  box.file('crlf', 'one\r\nneedle\r\nthree\r\n');
  box.file('bom', '\ufeffneedle');
  box.file('latin1', Buffer.from('needle caf\xe9\n', 'latin1'));
  const found = await box.ok('search', { root_path: '.', pattern: 'needle', context_lines: 1 });
  expect(places(found)).toEqual(['bom:1', 'crlf:2', 'latin1:1']);
  expect(found.matches[1].matches[0]).toEqual({
    line_number: 2,
    line: 'needle',
    context: [
      { line_number: 1, content: 'one' },
      { line_number: 2, content: 'needle' },
      { line_number: 3, content: 'three' },
    ],
  });
});

test('filesystem-server/search: a very long line is shown around its match, and a huge result is cut', async () => {
  await using box = await BoundServer.start('classic');
  box.file('long', `${'-'.repeat(100_000)}needle${'-'.repeat(100_000)}`);
  const [
    {
      matches: [match],
    },
  ] = (await box.ok('search', { root_path: '.', pattern: 'needle' })).matches;
  expect(match.line).toContain('needle');
  expect(match.line.length).toBeLessThan(3000);
  expect(match.line_truncated).toBe(true);
  box.file('many', `${'x'.repeat(1000)}\n`.repeat(9_000));
  const many = await box.ok('search', { root_path: '.', pattern: 'x', max_results: 9_000, context_lines: 2 });
  expect(many.truncated).toBe(true);
  expect(many.total_matches).toBeGreaterThan(100);
});

test('filesystem-server/search: links are not followed on the way, but at the start', async () => {
  await using box = await BoundServer.start('classic');
  box.file('real/f', 'needle');
  box.link('real', 'in');
  box.link('../outside', 'out');
  expect(places(await box.ok('search', { root_path: '.', pattern: 'e' }))).toEqual(['real/f:1']);
  expect(places(await box.ok('search', { root_path: 'in', pattern: 'needle' }))).toEqual(['in/f:1']);
});
