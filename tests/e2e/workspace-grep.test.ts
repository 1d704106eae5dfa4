import { expect, test } from 'vitest';
import { inWorkspace } from '../support/workspace.ts';

type Match = { file: string; line_number: number; line_content: string };
const brief = ({ matches }: { matches: Match[] }) =>
  matches.map(({ file, line_number, line_content }) => `${file}:${line_number}:${line_content}`);

inWorkspace({}, (w) => {
  test('E2E-048 FR-016: a match comes with the lines around it', async () => {
    const lines = Array.from({ length: 12 }, (_, index) => (index === 9 ? '// TODO: fix this' : `line ${index + 1}`));
    w.file('code.go', `${lines.join('\n')}\n`);
    expect(await w.ok('grep', { pattern: 'TODO', context_lines: 2 })).toEqual({
      matches: [
        {
          file: 'code.go',
          line_number: 10,
          line_content: '// TODO: fix this',
          context_before: ['line 8', 'line 9'],
          context_after: ['line 11', 'line 12'],
        },
      ],
      total_matches: 1,
      truncated: false,
      timed_out: false,
      files_searched: 1,
    });
  });

  test('FR-016: context stops at the ends of the file', async () => {
    w.file('a.txt', 'hit\nmiddle\nhit');
    const { matches } = await w.ok('grep', { pattern: 'hit', context_lines: 5 });
    expect(matches).toMatchObject([
      { line_number: 1, context_before: [], context_after: ['middle', 'hit'] },
      { line_number: 3, context_before: ['hit', 'middle'], context_after: [] },
    ]);
  });

  test('E2E-049 FR-016: case can be ignored', async () => {
    w.file('a.txt', 'Error\n');
    w.file('b.txt', 'error\n');
    w.file('c.txt', 'ERROR\n');
    expect(brief(await w.ok('grep', { pattern: 'error', case_insensitive: true }))).toEqual([
      'a.txt:1:Error',
      'b.txt:1:error',
      'c.txt:1:ERROR',
    ]);
    expect(brief(await w.ok('grep', { pattern: 'error' }))).toEqual(['b.txt:1:error']);
  });

  test('E2E-050 FR-016: only files of a kind, at any depth', async () => {
    w.file('file.go', 'TODO');
    w.file('file.py', 'TODO');
    w.file('deep/er/other.go', 'TODO');
    expect(brief(await w.ok('grep', { pattern: 'TODO', glob_filter: '*.go' }))).toEqual([
      'deep/er/other.go:1:TODO',
      'file.go:1:TODO',
    ]);
    expect(brief(await w.ok('grep', { pattern: 'TODO', glob_filter: 'deep/**/*.go' }))).toEqual([
      'deep/er/other.go:1:TODO',
    ]);
    expect(brief(await w.ok('grep', { pattern: 'TODO', glob_filter: '*.{py,rs}' }))).toEqual(['file.py:1:TODO']);
  });

  test('E2E-051 FR-016: nothing found', async () => {
    w.file('a.txt', 'text');
    expect(await w.ok('grep', { pattern: 'ZZZZUNIQUEZZZZZ' })).toEqual({
      matches: [],
      total_matches: 0,
      truncated: false,
      timed_out: false,
      files_searched: 1,
      hint: 'no match in 1 file',
    });
  });

  test.each(['[invalid', '(', 'a{2,1}', '\\', '*a', '(?=a)', '(?!a)', '(?<=a)b', '(a)\\1', '(?P<n'])(
    'E2E-052 FR-016: %j is no RE2 pattern',
    async (pattern) => {
      expect(await w.fails('grep', { pattern })).toMatch(/^invalid pattern: .+/);
    },
  );

  test.each([
    ['(?i)straSSE', 'Strasse'],
    ['(?P<year>\\d{4})-(?P<month>\\d\\d)', '2026-11'],
    ['(?<year>\\d{4})', '2026-11'],
    ['\\p{Greek}+', 'λόγος'],
    ['^\\s*$', ''],
    ['\\bword\\b', 'a word!'],
    ['x{3}', 'xxx'],
    ['[[:upper:]]{2}', 'AB'],
    ['a.c', 'a😀c'],
    ['\\Qa.b*\\E', 'a.b*'],
    ['(foo|bar)+$', 'foobar'],
    ['\\x{20ac}', '€'],
  ])('RE2 syntax: %s', async (pattern, line) => {
    w.file('a.txt', `first line\n${line}\nlast line\n`);
    expect(brief(await w.ok('grep', { pattern }))).toEqual([`a.txt:2:${line}`]);
  });

  test('E2E-053 FR-016: stops at the number of results asked for', async () => {
    for (let index = 0; index < 210; index += 1) w.file(`f${String(index).padStart(3, '0')}.txt`, 'a match\n');
    const five = await w.ok('grep', { pattern: 'match', max_results: 5 });
    expect(five).toMatchObject({ total_matches: 5, truncated: true, timed_out: false });
    expect(five.matches.map(({ file }: Match) => file)).toEqual([
      'f000.txt',
      'f001.txt',
      'f002.txt',
      'f003.txt',
      'f004.txt',
    ]);
    expect(await w.ok('grep', { pattern: 'match' })).toMatchObject({ total_matches: 100, truncated: true });
    expect(await w.ok('grep', { pattern: 'match', max_results: 210 })).toMatchObject({
      total_matches: 210,
      truncated: false,
    });
    expect(await w.ok('grep', { pattern: 'match', max_results: 209 })).toMatchObject({
      total_matches: 209,
      truncated: true,
    });
  });

  test('E2E-054 FR-016: binary files are skipped', async () => {
    w.file('binary.bin', Buffer.from('pattern\0pattern\n'));
    w.file('late-nul.txt', `pattern\n${'x'.repeat(8192)}\0\n`);
    w.file('text.txt', 'pattern\n');
    const { matches } = await w.ok('grep', { pattern: 'pattern' });
    expect(matches.map(({ file }: Match) => file)).toEqual(['late-nul.txt', 'text.txt']);
  });

  test('FR-016: a folder or one file to search in, and how deep', async () => {
    w.file('top.txt', 'hit');
    w.file('sub/one.txt', 'hit');
    w.file('sub/deep/two.txt', 'hit');
    expect(brief(await w.ok('grep', { pattern: 'hit', path: 'sub' }))).toEqual([
      'sub/deep/two.txt:1:hit',
      'sub/one.txt:1:hit',
    ]);
    expect(brief(await w.ok('grep', { pattern: 'hit', path: 'sub', max_depth: 1 }))).toEqual(['sub/one.txt:1:hit']);
    expect(brief(await w.ok('grep', { pattern: 'hit', max_depth: 1 }))).toEqual(['top.txt:1:hit']);
    expect(brief(await w.ok('grep', { pattern: 'hit', path: 'sub/one.txt' }))).toEqual(['sub/one.txt:1:hit']);
    expect(await w.fails('grep', { pattern: 'hit', path: 'ghost' })).toBe('path not found: ghost (root: workspace)');
  });

  test('one match a line, hidden files too; a CR belongs to its line', async () => {
    w.file('.hidden/x.txt', 'hit hit hit\n');
    w.file('b.txt', 'miss\nhit');
    expect(brief(await w.ok('grep', { pattern: 'hit' }))).toEqual(['.hidden/x.txt:1:hit hit hit', 'b.txt:2:hit']);
    w.file('crlf.txt', 'ends here\r\n');
    expect(brief(await w.ok('grep', { pattern: 'here\\r?$' }))).toEqual(['crlf.txt:1:ends here\r']);
  });

  test('a very long line is cut around its match and says so', async () => {
    w.file('long.txt', `${'x'.repeat(50_000)}needle${'y'.repeat(50_000)}\nshort needle\n`);
    const { matches } = await w.ok('grep', { pattern: 'needle' });
    expect(matches).toHaveLength(2);
    expect(matches[0].line_truncated).toBe(true);
    expect(matches[0].line_content).toContain('needle');
    expect(matches[0].line_content.length).toBeLessThanOrEqual(2_000);
    expect('line_truncated' in matches[1]).toBe(false);
  });

  test('a pattern that would never end elsewhere ends here', async () => {
    w.file('evil.txt', `${'a'.repeat(30_000)}!\n`);
    expect((await w.ok('grep', { pattern: '(a+)+$' })).total_matches).toBe(0);
  });

  test('the same search answers the same in the same order', async () => {
    for (let index = 0; index < 60; index += 1) w.file(`d${index % 7}/f${index}.txt`, 'hit\nhit\n');
    const first = await w.ok('grep', { pattern: 'hit', max_results: 50 });
    const files = first.matches.map(({ file }: Match) => file);
    expect(files).toEqual([...files].sort());
    for (let round = 0; round < 3; round += 1) {
      expect(await w.ok('grep', { pattern: 'hit', max_results: 50 })).toEqual(first);
    }
  });
});
