import { describe, expect, it } from 'vitest';
import { RingfenceError } from '../../../errors.ts';
import { applyPatch } from './apply-patch.ts';
import { WorkLimitExceeded } from './work-limits.ts';

const BOM = '\ufeff';

function patched(original: string | Buffer, patch: string): string {
  return applyPatch(Buffer.from(original as string), patch).content.toString('utf8');
}

function failure(original: string, patch: string): { problem: string; hunk?: number; line?: number } {
  try {
    applyPatch(Buffer.from(original), patch);
  } catch (error) {
    if (error instanceof RingfenceError && error.code === 'patch_failed') return error.details as { problem: string };
    throw error;
  }
  throw new Error('the patch applied');
}

/** Lines of text, each with a newline. */
function text(...lines: string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

function numbered(count: number, name = 'line'): string {
  return text(...Array.from({ length: count }, (_, index) => `${name} ${index + 1}`));
}

const applied: [name: string, original: string, patch: string, result: string][] = [
  ['a hunk with file header', 'a\nb\nc\n', '--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n', 'a\nB\nc\n'],
  ['a bare hunk', 'a\nb\nc\n', '@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n', 'a\nB\nc\n'],
  ['a section heading after @@', 'a\nb\n', '@@ -1,2 +1,2 @@ func main() {\n a\n-b\n+B\n', 'a\nB\n'],
  ['a patch without a final newline', 'a\nb\n', '@@ -1,2 +1,2 @@\n a\n-b\n+B', 'a\nB\n'],
  ['a patch that begins with a BOM', 'a\n', `${BOM}--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b\n`, 'b\n'],
  [
    'git headers',
    'a\n',
    'diff --git a/f b/f\nindex 7898192..6178079 100644\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n',
    'b\n',
  ],
  [
    'git headers that change the mode beside the content',
    'a\n',
    'diff --git a/f b/f\nold mode 100644\nnew mode 100755\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n',
    'b\n',
  ],
  [
    'svn headers',
    'a\n',
    `Index: f\n${'='.repeat(67)}\n--- f\t(revision 1)\n+++ f\t(working copy)\n@@ -1 +1 @@\n-a\n+b\n`,
    'b\n',
  ],
  [
    'a mail from git format-patch',
    'a\nb\n',
    'From 1234 Mon Sep 17 00:00:00 2001\nSubject: [PATCH] Change it\n\nWhy.\n---\n f | 2 +-\n 1 file changed\n\ndiff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n-- \n2.39.5\n\n',
    'a\nB\n',
  ],
  [
    'a git signature under wrong counts',
    'a\nb\n',
    '@@ -1,9 +1,9 @@\n a\n-b\n+B\n-- \n2.39.5 (Apple Git-154)\n',
    'a\nB\n',
  ],
  ['a removed line that looks like a signature', 'a\n- \nb\n', '@@ -1,3 +1,2 @@\n a\n-- \n b\n', 'a\nb\n'],
  [
    'removed and added lines that look like file headers',
    'a\n-- x\nb\n',
    '@@ -1,3 +1,3 @@\n a\n--- x\n+++ y\n b\n',
    'a\n++ y\nb\n',
  ],
  ['counts that are too small', 'a\nb\nc\n', '@@ -1,1 +1,1 @@\n a\n-b\n+B\n c\n', 'a\nB\nc\n'],
  ['counts that are too large', 'a\nb\nc\n', '@@ -1,7 +1,9 @@\n a\n-b\n+B\n c\n', 'a\nB\nc\n'],
  ['no counts', 'a\nb\nc\n', '@@ -1 +1 @@\n a\n-b\n+B\n c\n', 'a\nB\nc\n'],
  ['context whose blank was stripped', 'a\n\nb\n', '@@ -1,3 +1,3 @@\n a\n\n-b\n+B\n', 'a\n\nB\n'],
  ['the same at the end of the hunk', 'a\n\nb\n', '@@ -1,2 +1,2 @@\n-a\n+A\n\n', 'A\n\nb\n'],
  ['the same beyond counts that are too small', 'a\n\nb\n', '@@ -1,1 +1,1 @@\n a\n\n-b\n+B\n', 'a\n\nB\n'],
  ['empty lines after the last hunk', 'a\nb\n', '@@ -1 +1 @@\n-a\n+A\n\n\n', 'A\nb\n'],
  ['empty lines between hunks', 'a\nb\nc\n', '@@ -1 +1 @@\n-a\n+A\n\n@@ -3 +3 @@\n-c\n+C\n', 'A\nb\nC\n'],
  ['empty lines after wrong counts', 'a\nb\nc\n', '@@ -1,5 +1,5 @@\n-a\n+A\n\n@@ -3 +3 @@\n-c\n+C\n', 'A\nb\nC\n'],
  [
    'several hunks',
    numbered(9),
    '@@ -1 +1,2 @@\n-line 1\n+one\n+more\n@@ -9 +10 @@\n-line 9\n+nine\n',
    `one\nmore\n${text(...[2, 3, 4, 5, 6, 7, 8].map((n) => `line ${n}`))}nine\n`,
  ],
  ['removal of everything', 'a\nb\n', '@@ -1,2 +0,0 @@\n-a\n-b\n', ''],

  ['an offset forwards', `x\ny\n${text('a', 'b', 'c')}`, '@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n', 'x\ny\na\nB\nc\n'],
  ['a line number beyond the end', text('a', 'b'), '@@ -900,2 +900,2 @@\n a\n-b\n+B\n', 'a\nB\n'],
  ['the stated place before any other', text('a', 'a', 'a'), '@@ -2 +2 @@\n-a\n+A\n', 'a\nA\na\n'],
  [
    'a drift that the first hunk shows, where the second alone would be ambiguous',
    text('new', 'new', 'a', 'k', 'x', 'k', 'x', 'k'),
    '@@ -1 +1 @@\n-a\n+A\n@@ -4 +4 @@\n-k\n+K\n',
    text('new', 'new', 'A', 'k', 'x', 'K', 'x', 'k'),
  ],
  [
    'the second of two equal lines for the second hunk',
    'a\na\n',
    '@@ -1 +1 @@\n-a\n+b\n@@ -1 +1 @@\n-a\n+c\n',
    'b\nc\n',
  ],

  ['an offset backwards', text('a', 'b', 'c', 'd', 'e'), '@@ -4,3 +4,3 @@\n a\n-b\n+B\n c\n', 'a\nB\nc\nd\ne\n'],
  ['less context after the change, at the end', text('x', 'a', 'b'), '@@ -1,2 +1,2 @@\n a\n-b\n+B\n', 'x\na\nB\n'],
  [
    'less context before the change than after it',
    numbered(5),
    '@@ -3,2 +3,2 @@\n-line 3\n+x\n line 4\n',
    text('line 1', 'line 2', 'x', 'line 4', 'line 5'),
  ],

  ['a bare @@', text('a', 'b', 'c'), '--- a/f\n+++ b/f\n@@\n-b\n+B\n', 'a\nB\nc\n'],
  ['a bare @@ with context on one side only', text('a', 'b', 'c'), '@@ @@\n a\n+x\n', 'a\nx\nb\nc\n'],
  ['bare hunks, one after the other', text('a', 'b', 'c'), '@@ ... @@\n-a\n+A\n@@\n b\n-c\n+C\n', 'A\nb\nC\n'],
  ['a bare hunk that creates a file', '', '--- /dev/null\n+++ b/f\n@@\n+a\n', 'a\n'],
  ['a bare hunk in CRLF', 'a\r\nb\r\n', '@@\r\n-b\r\n+B\r\n', 'a\r\nB\r\n'],

  ['a closing fence', 'a\nb\n', '```diff\n@@ -1 +1 @@\n-a\n+A\n```\n', 'A\nb\n'],
  ['a closing fence below a bare hunk', 'a\nb\n', '@@\n-a\n+A\n b\n```\nThat is all:\n- done\n', 'A\nb\n'],
  ['a closing fence below wrong counts', 'a\nb\n', '@@ -1,7 +1,7 @@\n-a\n+A\n b\n```\n', 'A\nb\n'],
  ['prose below the last hunk', 'a\nb\n', '@@ -1,2 +1,2 @@\n-a\n+A\n b\nThis changes a.\n', 'A\nb\n'],
  ['prose with a list below an empty line', 'a\nb\n', '@@ -1,2 +1,2 @@\n-a\n+A\n b\n\nChanges:\n- a is A\n', 'A\nb\n'],
  [
    'prose below wrong counts and an empty line',
    'a\nb\n',
    '@@ -1,9 +1,9 @@\n-a\n+A\n b\n\nThis changes a.\n',
    'A\nb\n',
  ],

  [
    'insertion without context, after the stated line',
    numbered(6),
    '@@ -5,0 +6,2 @@\n+x\n+y\n',
    numbered(6).replace('line 6', 'x\ny\nline 6'),
  ],
  ['insertion without context at the end', 'a\nb\n', '@@ -2,0 +3 @@\n+c\n', 'a\nb\nc\n'],
  ['insertion without context after an unfinished line', 'a\nb', '@@ -2,0 +3 @@\n+c\n', 'a\nb\nc\n'],
  [
    'insertion without context at the top of a file that the patch names',
    'a\nb\n',
    '--- a/f\n+++ b/f\n@@ -0,0 +1,2 @@\n+x\n+y\n',
    'x\ny\na\nb\n',
  ],
  [
    'the same by git, with more below',
    'a\nb\n',
    'diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n@@ -0,0 +1 @@\n+x\n@@ -2 +3 @@ a\n-b\n+B\n',
    'x\na\nB\n',
  ],
  ['the same in CRLF', 'a\r\n', '--- a/f\n+++ b/f\n@@ -0,0 +1 @@\n+x\n', 'x\r\na\r\n'],
  ['the same below a BOM', `${BOM}a\n`, '--- a/f\n+++ b/f\n@@ -0,0 +1 @@\n+x\n', `${BOM}x\na\n`],
  ['insertion at the top, with context', 'a\n', '@@ -1 +1,2 @@\n+x\n a\n', 'x\na\n'],

  ['creation from /dev/null', '', '--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+b\n', 'a\nb\n'],
  [
    'creation by git',
    '',
    'diff --git a/f b/f\nnew file mode 100644\nindex 0000000..1\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n',
    'a\n',
  ],
  ['creation with a bare hunk', '', '@@ -0,0 +1,2 @@\n+a\n+b\n', 'a\nb\n'],
  ['creation that counts from 1', '', '--- a/f\n+++ b/f\n@@ -1,0 +1,2 @@\n+a\n+b\n', 'a\nb\n'],
  ['creation without a final newline', '', '@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n', 'a'],
  ['creation of a CRLF file', '', '@@ -0,0 +1 @@\n+a\r\n', 'a\r\n'],

  [
    'no newline on both sides',
    'a\nb',
    '@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+B\n\\ No newline at end of file\n',
    'a\nB',
  ],
  ['no newline on the old side', 'a\nb', '@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n', 'a\nb\n'],
  ['no newline on the new side', 'a\nb\n', '@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n', 'a\nb'],
  ['no newline in context', 'a\nb', '@@ -1,2 +1,2 @@\n-a\n+A\n b\n\\ No newline at end of file\n', 'A\nb'],
  [
    'a replaced last line whose missing newline goes unmentioned',
    'Hello World',
    '@@ -1 +1 @@\n-Hello World\n+Hello Agent\n',
    'Hello Agent\n',
  ],
  ['a kept last line whose missing newline goes unmentioned', 'a\nb', '@@ -1,2 +1,2 @@\n-a\n+A\n b\n', 'A\nb'],
  [
    'lines after a last line whose missing newline goes unmentioned',
    'a\nb',
    '@@ -1,2 +1,3 @@\n a\n b\n+c\n',
    'a\nb\nc\n',
  ],
  ['the same with CRLF', 'a\r\nb', '@@ -1,2 +1,3 @@\n a\n b\n+c\n', 'a\r\nb\r\nc\r\n'],

  ['an LF patch on a CRLF file', 'a\r\nb\r\nc\r\n', '@@ -1,3 +1,4 @@\n a\n-b\n+B\n+BB\n c\n', 'a\r\nB\r\nBB\r\nc\r\n'],
  ['an LF patch without context on a CRLF file', 'a\r\nb\r\n', '@@ -1,0 +2 @@\n+x\n', 'a\r\nx\r\nb\r\n'],
  ['an LF patch on the unfinished last line of a CRLF file', 'a\r\nb', '@@ -2 +2 @@\n-b\n+B\n', 'a\r\nB\r\n'],
  [
    'a CRLF patch on an LF file',
    'a\nb\n',
    '--- a\r\n+++ b\r\n@@ -1,2 +1,3 @@\r\n a\r\n-b\r\n+B\r\n+C\r\n',
    'a\nB\nC\n',
  ],
  [
    'a CRLF patch on a CRLF file',
    'a\r\nb\r\n',
    '--- a\r\n+++ b\r\n@@ -1,2 +1,3 @@\r\n a\r\n-b\r\n+B\r\n+C\r\n',
    'a\r\nB\r\nC\r\n',
  ],
  [
    'a CRLF patch with markers',
    'a',
    '@@ -1 +1 @@\r\n-a\r\n\\ No newline at end of file\r\n+b\r\n\\ No newline at end of file\r\n',
    'b',
  ],
  ['CRLF lines under LF headers on an LF file', 'a\nb\n', '@@ -1,2 +1,2 @@\n a\r\n-b\r\n+B\r\n', 'a\nB\n'],
  ['CRLF lines under LF headers on a CRLF file', 'a\r\nb\r\n', '@@ -1,2 +1,2 @@\n a\r\n-b\r\n+B\r\n', 'a\r\nB\r\n'],
  ['a patch that changes line endings', 'a\nb\n', '@@ -1,2 +1,2 @@\n a\n-b\n+b\r\n', 'a\nb\r\n'],
  [
    'mixed endings, each kept, the new line as its neighbour',
    'a\nb\r\nc\r\nd\n',
    '@@ -1,4 +1,5 @@\n a\n b\n c\n+x\n d\n',
    'a\nb\r\nc\r\nx\r\nd\n',
  ],
  ['stripped blanks in CRLF', 'a\r\n\r\nb\r\n', '@@ -1,3 +1,3 @@\n a\r\n\r\n-b\r\n+B\r\n', 'a\r\n\r\nB\r\n'],
  ['a carriage return inside a line', 'a\rb\nc\n', '@@ -1,2 +1,2 @@\n a\rb\n-c\n+d\re\n', 'a\rb\nd\re\n'],

  ['a BOM that the patch leaves out', `${BOM}a\nb\n`, '@@ -1,2 +1,2 @@\n-a\n+A\n b\n', `${BOM}A\nb\n`],
  ['a BOM that the patch leaves out, above an insertion', `${BOM}a\n`, '@@ -1 +1,2 @@\n+x\n a\n', `${BOM}x\na\n`],
  ['a BOM that the patch shows', `${BOM}a\nb\n`, `@@ -1,2 +1,2 @@\n ${BOM}a\n-b\n+B\n`, `${BOM}a\nB\n`],
  ['a BOM that the patch shows, below an insertion', `${BOM}a\n`, `@@ -1 +1,2 @@\n+x\n ${BOM}a\n`, `${BOM}x\na\n`],
  ['a BOM on both sides of a change', `${BOM}a\n`, `@@ -1 +1 @@\n-${BOM}a\n+${BOM}A\n`, `${BOM}A\n`],
  ['a BOM that only the new side shows', `${BOM}a\n`, `@@ -1 +1 @@\n-a\n+${BOM}A\n`, `${BOM}A\n`],
  ['a BOM that the patch removes', `${BOM}a\n`, `@@ -1 +1 @@\n-${BOM}a\n+a\n`, 'a\n'],
  ['a BOM that the patch adds', 'a\n', `@@ -1 +1 @@\n-a\n+${BOM}a\n`, `${BOM}a\n`],
  ['a BOM at a wrong line number', `${BOM}a\nb\n`, `@@ -2,2 +2,2 @@\n ${BOM}a\n-b\n+B\n`, `${BOM}a\nB\n`],

  ['characters beyond ASCII', 'grüße 🌍\nb\n', '@@ -1,2 +1,2 @@\n-grüße 🌍\n+größe 🌎\n b\n', 'größe 🌎\nb\n'],
  [
    'U+2028 and form feeds, which end no line',
    'a\u2028b\fc\nd\n',
    '@@ -1,2 +1,2 @@\n a\u2028b\fc\n-d\n+D\n',
    'a\u2028b\fc\nD\n',
  ],
];

describe('a patch that matches', () => {
  it.each(applied)('%s', (_name, original, patch, result) => {
    expect(patched(original, patch)).toBe(result);
  });

  it('counts its hunks', () => {
    const patch = '@@ -1 +1 @@\n-a\n+A\n@@ -3 +3 @@\n-c\n+C\n';
    expect(applyPatch(Buffer.from('a\nb\nc\n'), patch).result.hunks).toEqual([{ line: 1 }, { line: 3 }]);
  });

  it.each([
    ['above the first line', 'a\nb\n', '@@ -1,2 +1,3 @@\n+x\n a\n b\n'],
    ['below the last line', 'a\nb\n', '@@ -1,2 +1,3 @@\n a\n b\n+x\n'],
    ['between lines', 'a\nb\n', '@@ -1,2 +1,3 @@\n a\n+x\n b\n'],
    ['above a line further down', numbered(9), '@@ -5,2 +5,3 @@\n+x\n line 5\n line 6\n'],
    ['above a line, below a bare @@', numbered(9), '@@\n+x\n line 5\n'],
    ['below a line, below a bare @@', numbered(9), '@@\n line 5\n+x\n+y\n'],
  ])('is refused when it is repeated: an insertion %s', (_name, original, patch) => {
    const once = patched(original, patch);
    expect(once).toContain('x\n');
    expect(failure(once, patch).problem).toMatch(/^hunk 1 /);
  });

  it('says where its hunks are in the new content, and shows what it changed', () => {
    const patch =
      '@@ -2,3 +2,4 @@\n line 2\n-line 3\n+three\n+more\n line 4\n@@ -38,3 +39,2 @@\n line 38\n-line 39\n line 40\n';
    const { content, result } = applyPatch(Buffer.from(`new\n${numbered(40)}`), patch);
    expect(result.hunks).toEqual([{ line: 3 }, { line: 40 }]);
    expect(content.toString().split('\n').slice(2, 4)).toEqual(['line 2', 'three']);
    expect(result.diff).toBe(
      '@@ -1,7 +1,8 @@\n new\n line 1\n line 2\n-line 3\n+three\n+more\n line 4\n line 5\n line 6\n' +
        '@@ -37,5 +38,4 @@\n line 36\n line 37\n line 38\n-line 39\n line 40\n',
    );
  });

  it('keeps bytes that are not valid UTF-8', () => {
    const original = Buffer.from('caf\xe9\nold\n\x00\xff\xfe\n', 'latin1');
    const { content } = applyPatch(original, '@@ -2 +2 @@\n-old\n+né\n');
    expect(content).toEqual(
      Buffer.concat([Buffer.from('caf\xe9\n', 'latin1'), Buffer.from('né\n'), Buffer.from('\x00\xff\xfe\n', 'latin1')]),
    );
  });
});

const refused: [name: string, original: string, patch: string, problem: string | RegExp, where?: object][] = [
  [
    'context that is not there (E2E-023)',
    'line A\nline B\nline C\n',
    '@@ -1,3 +1,3 @@\n line A\n-line X\n+line Y\n line C\n',
    'hunk 1 does not match at line 2: expected "line X", found "line B"',
    { hunk: 1, line: 2 },
  ],
  [
    'a second hunk that does not match',
    numbered(9),
    '@@ -1 +1 @@\n-line 1\n+one\n@@ -8,2 +8,2 @@\n line 8\n-line x\n+nine\n',
    'hunk 2 does not match at line 9: expected "line x", found "line 9"',
    { hunk: 2, line: 9 },
  ],
  [
    'one deviating blank',
    'a b\n',
    '@@ -1 +1 @@\n-a  b\n+c\n',
    'hunk 1 does not match at line 1: expected "a  b", found "a b"',
  ],
  [
    'a tab for blanks',
    '\ta\n',
    '@@ -1 +1 @@\n-    a\n+c\n',
    'hunk 1 does not match at line 1: expected "    a", found "\\ta"',
  ],
  [
    'a long line, cut around the difference',
    `${'x'.repeat(500)}1\n`,
    `@@ -1 +1 @@\n-${'x'.repeat(500)}2\n+c\n`,
    `hunk 1 does not match at line 1: expected "…${'x'.repeat(30)}2", found "…${'x'.repeat(30)}1"`,
  ],
  [
    'lines beyond the end',
    'a\n',
    '@@ -1,2 +1,2 @@\n a\n-b\n+B\n',
    'hunk 1 does not match at line 2: expected "b", found the end of the file',
  ],
  [
    'old lines on an empty file',
    '',
    '@@ -1 +1 @@\n-a\n+b\n',
    'hunk 1 does not match at line 1: expected "a", found the end of the file',
  ],
  [
    'an insertion beyond the end',
    'a\nb\n',
    '@@ -7,0 +8 @@\n+x\n',
    'hunk 1 does not match at line 7: the file has 2 lines',
    { hunk: 1, line: 7 },
  ],
  [
    'a newline where the patch says there is none',
    'a\n',
    '@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n',
    'hunk 1 does not match at line 1: expected the file to end here without a newline',
  ],
  [
    'an end of file in the middle',
    'a\nb\n',
    '@@ -1 +1 @@\n-a\n+A\n\\ No newline at end of file\n',
    'hunk 1 does not match at line 2: the patch ends the file here, but more lines follow',
  ],
  [
    'hunks that overlap',
    'a\nb\nc\n',
    '@@ -1,2 +1,2 @@\n-a\n+A\n b\n@@ -2,2 +2,2 @@\n b\n-c\n+C\n',
    'hunk 2 does not match at line 2: it overlaps the hunk before it',
    { hunk: 2, line: 2 },
  ],
  [
    'hunks out of order',
    'a\nb\nc\n',
    '@@ -3 +3 @@\n-c\n+C\n@@ -1 +1 @@\n-a\n+A\n',
    'hunk 2 is out of order: it is for line 1, hunk 1 for line 3',
    { hunk: 2, line: 1 },
  ],
  [
    'a later hunk whose lines are further up',
    'a\nb\nc\n',
    '@@ -2 +2 @@\n-c\n+C\n@@ -3 +3 @@\n-a\n+A\n',
    /^hunk 2 does not match at line 4/,
  ],
  ['a BOM in the patch alone', 'a\n', `@@ -1 +1 @@\n-${BOM}a\n+b\n`, /^hunk 1 does not match at line 1: expected/],
  [
    'creation from /dev/null over content',
    'a\n',
    '--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+b\n',
    /^hunk 1 does not match at line 1: it creates a file/,
  ],
  [
    'creation by git over content',
    'a\n',
    'diff --git a/f b/f\nnew file mode 100644\n--- a/f\n+++ b/f\n@@ -0,0 +1 @@\n+b\n',
    /^hunk 1 does not match at line 1: it creates a file/,
  ],
  [
    'creation by a bare hunk over content',
    'a\n',
    '@@ -0,0 +1 @@\n+b\n',
    /it creates a file, but the file already has content/,
  ],
  [
    'two files',
    'a\n',
    '--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n',
    'the patch names more than one file, and one is patched at a time: send the hunks of each file by themselves (hunk 2, line 6 of the patch)',
    { hunk: 2 },
  ],
  [
    'three files by git, one without hunks',
    'a\n',
    'diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\ndiff --git a/g b/g\nold mode 1\nnew mode 2\ndiff --git a/h b/h\n--- a/h\n+++ b/h\n@@ -1 +1 @@\n-a\n+b\n',
    /^the patch names more than one file.* \(hunk 2, line 7 of the patch\)$/,
  ],
  [
    'a file header below a bare hunk',
    'a\n',
    '@@ -1 +1 @@\n-a\n+b\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n',
    /^the patch names more than one file.* \(hunk 2, line 4 of the patch\)$/,
  ],
  [
    'deletion',
    'a\n',
    '--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n',
    /^the patch deletes the file.* \(hunk 1, line 2 of the patch\)$/,
    { hunk: 1 },
  ],
  [
    'a rename',
    'a\n',
    'diff --git a/f b/g\nsimilarity index 90%\nrename from f\nrename to g\n--- a/f\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n',
    /^the patch renames the file.* \(hunk 1, line 3 of the patch\)$/,
  ],
  [
    'a copy',
    'a\n',
    'diff --git a/f b/g\nsimilarity index 100%\ncopy from f\ncopy to g\n',
    /^the patch copies the file.* \(line 3 of the patch\)$/,
  ],
  [
    'binary data',
    'a\n',
    'diff --git a/f b/f\nindex 1..2 100644\nGIT binary patch\nliteral 3\nKcmZ\n',
    /^the patch is binary.* \(line 3 of the patch\)$/,
  ],
  [
    'binary files that differ',
    'a\n',
    'Binary files a/f and b/f differ\n',
    /^the patch is binary.* \(line 1 of the patch\)$/,
  ],
  [
    'a mode change alone',
    'a\n',
    'diff --git a/f b/f\nold mode 100644\nnew mode 100755\n',
    /^the patch changes only the file mode.* \(line 2 of the patch\)$/,
  ],
  ['an empty patch', 'a\n', '', /^no hunks found: hunk 1 is missing at line 1 of the patch/, { hunk: 1 }],
  ['text without a hunk', 'a\n', 'please change a to b\n', /^no hunks found: hunk 1 is missing at line 1 of the patch/],
  ['a header without a hunk', 'a\n', '--- a/f\n+++ b/f\n', /^no hunks found: hunk 1 is missing at line 3 of the patch/],
  [
    'a header with words for numbers',
    'a\n',
    '--- a/f\n+++ b/f\n@@ f() @@\n-a\n+b\n',
    'hunk 1 is malformed at line 3 of the patch: expected "@@ -line,count +line,count @@" or "@@", found "@@ f() @@"',
    { hunk: 1 },
  ],
  ['a merge diff', 'a\n', '@@@ -1 -1 +1 @@@\n--a\n++b\n', /^hunk 1 is malformed at line 1 of the patch/],
  [
    'garbage in a hunk',
    'a\nb\n',
    '@@ -1,2 +1,2 @@\n a\nb\n',
    'hunk 1 is malformed at line 3 of the patch: expected a line that starts with " ", "+" or "-", found "b"',
    { hunk: 1 },
  ],
  [
    'garbage after a hunk that is not the last',
    'a\nb\nc\n',
    '@@ -1 +1 @@\n-a\n+A\n```\n@@ -2 +2 @@\n-b\n+B\n',
    /^hunk 1 is malformed at line 4 of the patch/,
  ],
  [
    'a context line that lost its space, with changes below it',
    'a\nb\nc\n',
    '@@ -1 +1 @@\n-a\n+A\nb\n-c\n+C\n',
    /^hunk 1 is malformed at line 4 of the patch/,
  ],
  [
    'a context line that lost its space, below counts that are not met',
    'a\nb\nc\n',
    '@@ -1,3 +1,3 @@\n a\n-b\n+B\nc\n',
    /^hunk 1 is malformed at line 5 of the patch/,
  ],
  [
    'two places, neither at its line',
    text('a', 'x', 'x', 'x', 'a', 'x', 'a'),
    '@@ -4 +4 @@\n-a\n+A\n',
    'hunk 1 does not match at line 4, but fits at lines 1, 5, 7: correct its line number or add context',
    { hunk: 1, line: 4 },
  ],
  [
    'two places at the same distance',
    text('a', 'x', 'a'),
    '@@ -2 +2 @@\n-a\n+A\n',
    'hunk 1 does not match at line 2, but fits at lines 1, 3: correct its line number or add context',
  ],
  [
    'very many places',
    'a\nx\n'.repeat(5000),
    '@@ -2 +2 @@\n-a\n+A\n',
    'hunk 1 does not match at line 2, but fits at lines 1, 3, 5, 7, 9, 11, 13, 15, 17, 19 and more: correct its line number or add context',
  ],
  [
    'the second section of two alike, by a wrong line number',
    text('one:', '  port: 1', '  host: h', 'two:', '  port: 1', '  host: h', 'three:', '  port: 1', '  host: h'),
    '@@ -3,2 +3,2 @@\n-  port: 1\n+  port: 2\n   host: h\n',
    /^hunk 1 does not match at line 3, but fits at lines 2, 5, 8: /,
  ],
  [
    'no context after the change, in the middle of the file',
    text('a', 'b', 'c', 'd', 'e'),
    '@@ -1,2 +1,2 @@\n a\n-b\n+B\n',
    'hunk 1 does not match at line 1: without context after its change it can only stand at the end of the file: add the lines that follow',
    { hunk: 1, line: 1 },
  ],
  [
    'the same at an offset',
    text('a', 'b', 'c', 'd', 'e'),
    '@@ -4,2 +4,2 @@\n a\n-b\n+B\n',
    /^hunk 1 does not match at line 1: without context after its change/,
  ],
  [
    'the same where the end of the file fits, but not the stated line alone',
    text('a', 'b', 'c', 'a', 'b'),
    '@@ -1,2 +1,2 @@\n a\n-b\n+B\n',
    /^hunk 1 does not match at line 1: without context after its change/,
  ],
  [
    'a hunk for the top of the file that is further down',
    text('new', 'a', 'b', 'c'),
    '@@ -1,2 +1,2 @@\n-a\n+A\n b\n',
    /^hunk 1 does not match at line 2: with uneven context/,
  ],
  [
    'hunks of which git refuses one and GNU patch another',
    numbered(30),
    '@@ -5,5 +5,5 @@\n line 5\n line 6\n line 7\n-line 8\n+x\n line 9\n@@ -20 +20 @@\n-line 20\n+y\n',
    /^hunk 2 does not match at line 20: /,
  ],
  [
    'a bare @@ whose context occurs twice',
    text('a', 'b', 'a'),
    '@@\n-a\n+A\n',
    'hunk 1 fits at lines 1, 3: add context, or the line number',
    { hunk: 1, line: 1 },
  ],
  [
    'a bare @@ whose context occurs nowhere',
    text('a', 'b', 'c'),
    '@@\n b\n-x\n+X\n',
    'hunk 1 does not match at line 3: expected "x", found "c"',
  ],
  ['a bare @@ without context', 'a\n', '@@\n+b\n', /^hunk 1 has no line to find its place by/],
  [
    'bare hunks out of order',
    text('a', 'b', 'c'),
    '@@\n-c\n+C\n@@\n-a\n+A\n',
    'hunk 2 fits only at line 1, above the end of the hunk before it',
  ],
  [
    'a hunk without lines',
    'a\n',
    '@@ -1 +1 @@\n',
    /^hunk 1 is malformed at line 1 of the patch: it adds nothing and removes nothing/,
  ],
  ['a hunk of context only', 'a\n', '@@ -1 +1 @@\n a\n', /it adds nothing and removes nothing/],
  [
    'a marker before any line',
    'a\n',
    '@@ -1 +1 @@\n\\ No newline at end of file\n-a\n+b\n',
    /^hunk 1 is malformed at line 2/,
  ],
  [
    'lines after the marker',
    'a',
    '@@ -1 +1,2 @@\n-a\n+b\n\\ No newline at end of file\n+c\n',
    /lines follow the one that ends the file/,
  ],
  [
    'a hunk after the marker',
    'a\nb',
    '@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+B\n@@ -3,0 +3 @@\n+c\n',
    /^hunk 1 says that it ends the file at line 1, but hunk 2 follows/,
  ],
];

describe('a patch that is refused', () => {
  it.each(refused)('%s', (_name, original, patch, problem, where = {}) => {
    const details = failure(original, patch);
    if (typeof problem === 'string') expect(details.problem).toBe(problem);
    else expect(details.problem).toMatch(problem);
    expect(details).toMatchObject(where);
  });
});

it('refuses a patch with a lone surrogate', () => {
  const apply = () => applyPatch(Buffer.from('a\n'), '@@ -1 +1 @@\n-a\n+\ud800\n');
  expect(apply).toThrow(expect.objectContaining({ code: 'invalid_encoding', details: { argument: 'patch' } }));
});

it.each([
  [
    'a repeated patch of a file without a final newline',
    'a\na\nb\nb\nb',
    '@@ -1,4 +1,5 @@\n a\n+a\n b\n b\n-b\n+b\n\\ No newline at end of file\n',
  ],
  ['an unterminated last line away from its line', 'a\na\na\nb\na\na\nb\na\nb\nb', '@@ -6,3 +6,3 @@\n a\n-b\n+Y\n b\n'],
  ['an end of file that is not at its line', 'b\nb\n', '@@ -1 +1 @@\n-b\n+X\n\\ No newline at end of file\n'],
])('refuses what git apply and patch -F0 refuse: %s', (_what, original, patch) => {
  expect(failure(original, patch).hunk).toBe(1);
});

it('refuses a hunk away from its line that fits at several, also if only one of them is where the file ends', () => {
  const original = 'k: 1\nv: 2\n'.repeat(3);
  const { problem } = failure(original, '@@ -2,2 +2,2 @@\n k: 1\n-v: 2\n+v: 3\n');
  expect(problem).toMatch(/^hunk 1 does not match at line 2, but fits at lines 1, 3, 5/);
});

describe('large input', () => {
  it('applies a thousand hunks to a 10 MB file, all of them at an offset', () => {
    const lines = Array.from({ length: 250_000 }, (_, index) => `${index} ${'padding '.repeat(5)}`);
    const hunks = Array.from({ length: 1000 }, (_, index) => {
      const at = index * 250 + 100;
      return `@@ -${at + 1 - (index % 90)},3 +${at + 1},3 @@\n ${lines[at]}\n-${lines[at + 1]}\n+changed ${index}\n ${lines[at + 2]}\n`;
    });
    const { content, result } = applyPatch(Buffer.from(lines.join('\n')), hunks.join(''));
    expect(result.hunks).toHaveLength(1000);
    const expected = lines.map((line, index) => (index % 250 === 101 ? `changed ${(index - 101) / 250}` : line));
    expect(content.equals(Buffer.from(expected.join('\n')))).toBe(true);
  });

  it('gives up on a search crafted to be slow', () => {
    const original = 'a\nb\n'.repeat(1_000_000);
    const hunk = `@@ -1 +1 @@\n${' a\n b\n'.repeat(1000)} a\n-a\n`;
    expect(failure(original, hunk).problem).toBe('hunk 1 does not match at line 2002: expected "a", found "b"');
  });
});

describe('a patch with a work limit', () => {
  const quickly = (original: string, patch: string) => applyPatch(Buffer.from(original), patch, { workLimited: true });

  it('applies, also at an offset', () => {
    const { content } = quickly(numbered(10_000), '@@ -1 +1 @@\n-line 9999\n+changed\n');
    expect(content.toString()).toBe(numbered(10_000).replace('line 9999\n', 'changed\n'));
    expect(() => quickly('a\n', '@@ -1 +1 @@\n-b\n+c\n')).toThrow(RingfenceError);
  });

  it.each([
    ['a file of many lines', numbered(100_000), '@@ -1 +1 @@\n-line 1\n+x\n'],
    ['many lines of its own', '', `@@ -0,0 +1 @@\n${'+\n'.repeat(100_000)}`],
    ['a search that was made to be slow', 'a\nb\n'.repeat(4_000), `@@ -1 +1 @@\n${' a\n b\n'.repeat(100)} a\n-a\n`],
  ])('raises WorkLimitExceeded for %s', (_name, original, patch) => {
    expect(() => quickly(original, patch)).toThrow(WorkLimitExceeded);
  });
});
