import { describe, expect, it } from 'vitest';
import { growth } from '../../../runtime/growth.fixture.ts';
import { explainMissing } from './explain-missing.ts';

function explain(file: string, oldText: string, newText = ''): string {
  const bytes = (text: string): string => Buffer.from(text).toString('latin1');
  return explainMissing(bytes(file), bytes(oldText), bytes(newText));
}

const CODE = `import { a } from './a.ts';

export function greet(name: string): string {
  const greeting = 'hello';
\tif (name === '') return greeting;
  return greeting + ', ' + name;
}

export function leave(name: string): string {
  return 'goodbye, ' + name;
}
`;

describe('the nearest passage', () => {
  it.each([
    [
      'indentation',
      "export function greet(name: string): string {\n    const greeting = 'hello';",
      'nearest passage, lines 3-4: "export function greet(name: string): string {\\n  const greeting = \'hello\';"; it differs in indentation (line 4: 2 spaces in the file, 4 spaces in old_text)',
    ],
    [
      'tabs',
      "  if (name === '') return greeting;\n",
      'nearest passage, line 5: "\\tif (name === \'\') return greeting;"; it differs in indentation (line 5: 1 tab in the file, 2 spaces in old_text)',
    ],
    [
      'quotes',
      'const greeting = "hello";',
      'nearest passage, line 4: "  const greeting = \'hello\';"; it differs in quotes (line 4: "\'" in the file, "\\"" in old_text)',
    ],
    [
      'typographic quotes',
      'const greeting = ‘hello’;',
      'nearest passage, line 4: "  const greeting = \'hello\';"; it differs in quotes (line 4: "\'" in the file, "‘" in old_text)',
    ],
    [
      'trailing spaces',
      "const greeting = 'hello';  \n\tif",
      "nearest passage, lines 4-5: \"  const greeting = 'hello';\\n\\tif (name === '') return greeting;\"; it differs in trailing spaces (line 4: nothing in the file, 2 spaces in old_text)",
    ],
    [
      'spaces between words',
      "if (name==='') return greeting;",
      'nearest passage, line 5: "\\tif (name === \'\') return greeting;"; it differs in spaces (line 5: 1 space in the file, nothing in old_text)',
    ],
    [
      'a no-break space',
      "const greeting\u00a0= 'hello';",
      'nearest passage, line 4: "  const greeting = \'hello\';"; it differs in spaces (line 4: 1 space in the file, 1 no-break space in old_text)',
    ],
    [
      'letter case',
      'export function Greet(name',
      'nearest passage, line 3: "export function greet(name: string): string {"; it differs in letter case (line 3: "greet" in the file, "Greet" in old_text)',
    ],
    [
      'a changed word',
      "  return 'farewell, ' + name;",
      'nearest passage, line 10: "  return \'goodbye, \' + name;"; it differs in words (line 10: "goodbye" in the file, "farewell" in old_text)',
    ],
    [
      'a changed word in one of several lines',
      "export function leave(person: string): string {\n  return 'goodbye, ' + name;\n}",
      'nearest passage, lines 9-11: "export function leave(name: string): string {\\n  return \'goodbye, \' + name;\\n}"; it differs in words (line 9: "name" in the file, "person" in old_text)',
    ],
    [
      'a line left out',
      "  const greeting = 'hello';\n  return greeting + ', ' + name;\n}",
      "nearest passage, lines 4-7: \"  const greeting = 'hello';\\n\\tif (name === '') return greeting;\\n  return greeting + ', ' + name;\\n}\"; it differs in a line that is only in the file (line 5: \"\\tif (name === '') return greeting;\")",
    ],
    [
      'a line too many',
      "  const greeting = 'hello';\n  const other = 1;\n\tif (name === '') return greeting;\n  return greeting + ', ' + name;",
      "nearest passage, lines 4-6: \"  const greeting = 'hello';\\n\\tif (name === '') return greeting;\\n  return greeting + ', ' + name;\"; it differs in a line that is only in old_text (line 5: \"  const other = 1;\")",
    ],
    [
      'an empty line too many',
      "'hello';\n\n\tif",
      "nearest passage, lines 4-5: \"  const greeting = 'hello';\\n\\tif (name === '') return greeting;\"; it differs in empty lines (line 4: 1 in the file, 2 in old_text)",
    ],
  ])('%s', (_name, oldText, expected) => {
    expect(explain(CODE, oldText)).toBe(expected);
  });

  it('is not shown if nothing is alike', () => {
    const long = CODE.repeat(9);
    expect(explain(long, 'SELECT * FROM users')).toBe('nothing in the file is like it: read the file again');
    expect(explain('\n'.repeat(2_000), '   ')).toBe('nothing in the file is like it: read the file again');
  });
});

it('line numbers that were copied from a reading are named', () => {
  expect(explain('one\ntwo\n', '     1\tone\n     2\ttwo')).toContain('has line numbers before its lines');
  expect(explain('one\ntwo\n', '2\ttwo')).toContain('has line numbers before its lines');
});

it('a new text that is there already is named', () => {
  expect(explain(CODE, "return 'farewell, ' + name;", "return 'goodbye, ' + name;")).toMatch(
    /^new_text is already there, at line 10: the edit may be done; nearest passage, line 10: /,
  );
});

describe('a large file', () => {
  const large = Array.from({ length: 30_000 }, (_, index) => `const value${index} = compute(${index * 7}, "text");`);

  it.each([
    ['a changed word', `const value17001 = computed(${17_001 * 7}, "text");`, 17_002],
    ['other quotes', `const value17001 = compute(${17_001 * 7}, 'text');`, 17_002],
  ])('is searched in linear time: %s', (_name, oldText, line) => {
    expect(explain(large.join('\n'), oldText)).toContain(`nearest passage, line ${line}: `);
    const ask = (size: number) => explain(large.slice(17_001 - size / 2, 17_001 + size / 2).join('\n'), oldText);
    expect(growth(3_000, ask)).toBeLessThan(24);
  });

  it.each([
    ['one line', 'x1y2', 'x1y2x1Y3x1y2'],
    ['many equal lines', 'a = b + c;\n', 'a = b + d;\n'.repeat(500)],
    ['long lines', `${'word '.repeat(100)}\n`, `${'Word '.repeat(100)}\n`.repeat(50)],
    ['no spaces at all', 'é', 'è'.repeat(10_000)],
    ['white space alone', ' \n', '\t\n'.repeat(100)],
  ])('is explained shortly and in linear time: %s', (_name, unit, oldText) => {
    const ask = (size: number) => explain(unit.repeat(size / unit.length), oldText);
    const text = ask(1_000_000);
    expect(text.length).toBeLessThan(2_000);
    expect(text).not.toMatch(/[\n\r]/);
    expect(growth(120_000, ask)).toBeLessThan(24);
  });
});

it.each([
  ['spaces', ' '],
  ['line breaks', '\n'],
])('explains a text of very many %s in linear time', (_what, space) => {
  expect(growth(25_000, (size) => explain(CODE, `y${space.repeat(size)}x`))).toBeLessThan(24);
});

describe('short lines and short files', () => {
  const SETTINGS = Array.from({ length: 300 }, (_, index) => `k${index}=${index % 7}`).join('\n');

  it('finds a short line by how it begins and ends', () => {
    expect(explain(SETTINGS, 'k250=9')).toContain('nearest passage, line 251: "k250=5"; it differs in words');
    expect(explain(SETTINGS, 'k10=3\nk11=8')).toMatch(/^nearest passage, lines? 11/);
  });

  it('shows a short file whole if nothing in it is like the text', () => {
    expect(explain(CODE, 'SELECT * FROM users')).toContain('; the whole file: "import { a } from');
    expect(explain('a\n', 'something else')).toBe('nothing in the file is like it; the whole file: "a\\n"');
    expect(explain('', 'x')).toBe('the file is empty');
    expect(explain(SETTINGS, 'nothing of the kind at all')).toBe('nothing in the file is like it: read the file again');
  });

  it('names another Unicode form', () => {
    const found = explain('name: caf\u00e9\n', 'cafe\u0301');
    expect(found).toBe('line 1 has it in another Unicode form: write old_text in NFC');
    expect(explain('x\ncafe\u0301\n', 'caf\u00e9')).toContain('line 2 has it in another Unicode form');
  });

  it('does not compare the indentation of the line after the text', () => {
    const found = explain('if (a) { \n    b();\n}\n', 'IF (a) {\n');
    expect(found).not.toContain('indentation');
    expect(found).toContain('letter case');
    expect(found).toContain('trailing spaces');
  });
});
