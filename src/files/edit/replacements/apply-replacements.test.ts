import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RingfenceError } from '../../../errors.ts';
import { growth } from '../../../runtime/growth.fixture.ts';
import { applyPatch } from '../patch/apply-patch.ts';
import { applyReplacements, type TextReplacement } from './apply-replacements.ts';

function edited(original: string | Buffer, ...replacements: TextReplacement[]): string {
  return applyReplacements(Buffer.from(original as string), replacements).content.toString('utf8');
}

function failure(original: string | Buffer, ...replacements: TextReplacement[]): RingfenceError {
  try {
    edited(original, ...replacements);
  } catch (error) {
    if (error instanceof RingfenceError) return error;
    throw error;
  }
  throw new Error('it worked');
}

const to = (oldText: string, newText: string, replaceAll = false): TextReplacement => ({
  oldText,
  newText,
  replaceAll,
});

describe('line endings', () => {
  it.each([
    ['LF finds CRLF and is written as CRLF', 'a\r\nb\r\nc\r\n', to('a\nb\n', 'x\ny\nz\n'), 'x\r\ny\r\nz\r\nc\r\n'],
    ['CRLF finds LF and is written as LF', 'a\nb\nc\n', to('a\r\nb\r\n', 'x\r\ny\r\nz\r\n'), 'x\ny\nz\nc\n'],
    ['a new line inside a CRLF line', 'a b\r\nc\r\n', to(' ', '\n'), 'a\r\nb\r\nc\r\n'],
    ['a new line in the unfinished last line', 'a\r\nb', to('b', 'b\nc'), 'a\r\nb\r\nc'],
    ['a file without line breaks takes them as written', 'a b', to(' ', '\r\n'), 'a\r\nb'],
    ['the same in LF', 'a b', to(' ', '\n'), 'a\nb'],
    ['a line break that is removed', 'a\r\nb\r\n', to('a\nb', 'ab'), 'ab\r\n'],
    ['lines around a change keep theirs in a mixed file', 'a\nb\r\nc\n', to('a\nb\nc', 'a\nB\nc'), 'a\nB\r\nc\n'],
    ['a new line takes that of its line in a mixed file', 'a\nb\r\nc\n', to('b', 'b\nx'), 'a\nb\r\nx\r\nc\n'],
    ['a carriage return inside a line', 'a\rb\r\n', to('a\rb', 'a\rc'), 'a\rc\r\n'],
    ['every line of a CRLF file', 'a\r\na\r\n', to('a\n', 'b\nc\n', true), 'b\r\nc\r\nb\r\nc\r\n'],
  ])('%s', (_name, original, replacement, result) => {
    expect(edited(original, replacement)).toBe(result);
  });
});

it('the endings of a file are known after its only line break was removed', () => {
  expect(edited('\r\na', to('\n', ''), to('a', 'a\nb'))).toBe('a\r\nb');
});

describe('a replacement', () => {
  it('inserts its text literally', () => {
    expect(edited('a b c', to('b', "$& $1 $$ $'"))).toBe("a $& $1 $$ $' c");
  });

  it('keeps a byte order mark first', () => {
    expect(edited('\ufeffa\n', to('a\n', 'x\na\n'))).toBe('\ufeffx\na\n');
  });

  it('keeps bytes that are not UTF-8, and refuses to mix encodings', () => {
    const latin1 = Buffer.from('caf\xe9 x\n\xff\n', 'latin1');
    expect(applyReplacements(latin1, [to('x', 'y')]).content).toEqual(Buffer.from('caf\xe9 y\n\xff\n', 'latin1'));
    expect(failure(latin1, to('café', 'y')).code).toBe('not_text');
    expect(failure(latin1, to('x', 'é')).code).toBe('not_text');
    expect(failure(Buffer.from('\ufeffab', 'utf16le'), to('a', 'xyz')).code).toBe('not_text');
  });

  it('sees the result of those before it', () => {
    expect(edited('a', to('a', 'bb'), to('bb', 'c'), to('c', 'a\n'))).toBe('a\n');
  });

  it('must be unique, overlaps included, or for all', () => {
    expect(failure('aaa', to('aa', 'b'))).toMatchObject({ code: 'text_not_unique', details: { count: 2, edit: 1 } });
    expect(failure('x\ny\nx\n', to('y', 'x'), to('x', 'b'))).toMatchObject({ details: { lines: [1, 2, 3], edit: 2 } });
    expect(edited('aaa', to('aa', 'b', true))).toBe('ba');
  });

  it('fails if its text is not there, with the number of the replacement', () => {
    expect(failure('a\n', to('a', 'b'), to('a', 'c'))).toMatchObject({ code: 'text_not_found', details: { edit: 2 } });
    expect(failure('\ufffd', to('\ud800', 'b')).code).toBe('text_not_found');
    expect(failure('a', to('a', '\ud800'))).toMatchObject({ code: 'invalid_encoding' });
    expect(() => applyReplacements(undefined, [to('a', 'b')])).toThrow('not_found');
  });
});

describe('the result', () => {
  it('has the lines of the new content at which replacements begin, also of earlier ones that moved', () => {
    const { result } = applyReplacements(Buffer.from('a\nb\nc\na\n'), [
      to('c', 'C\nC'),
      to('a', 'x\ny', true),
      to('b\n', ''),
    ]);
    expect(result).toMatchObject({ replacements: 4, lines: [3, 1, 5, 3] });
  });

  it('has a diff of at most 198 lines that says when it was cut', () => {
    const original = Buffer.from('a\nb\n'.repeat(20_000));
    const { result } = applyReplacements(original, [to('a', 'A', true)]);
    expect(result.replacements).toBe(20_000);
    expect(result.lines).toHaveLength(1_000);
    const lines = result.diff.split('\n');
    expect([lines.length, lines.at(-2)]).toEqual([199, '... cut: the diff is longer']);
  });

  it.each(['ab cd\n', 'ab cd '])('takes time in proportion to a megabyte of %j', (text) => {
    const edit = (size: number) =>
      applyReplacements(Buffer.from(text.repeat(size)), [to('ab', 'x', true), to('cd', 'longer text', true)]);
    expect(growth(20_000, edit)).toBeLessThan(24);
  });
});

describe('against a simple model', () => {
  /** The model: line endings aside, what `split` and `join` do. */
  function model(original: string, all: readonly TextReplacement[]): string | undefined {
    const folded = (text: string): string => text.replaceAll('\r\n', '\n');
    let now = folded(original);
    for (const { oldText, newText, replaceAll } of all) {
      const old = folded(oldText);
      const first = now.indexOf(old);
      if (old === '' || first === -1 || (!replaceAll && now.indexOf(old, first + 1) !== -1)) return undefined;
      now = now.split(old).join(folded(newText));
    }
    return original.includes('\r\n') ? now.replaceAll('\n', '\r\n') : now;
  }

  const piece = fc.constantFrom('a', 'b', 'ab', ' ', 'é', '🌍', '\n', '\n\n', '$&', '\t');
  const text = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(''));
  const short = fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join(''));
  /** A replacement of a text that is often in the file: `at` and `length` choose it there. */
  const choice = fc.record({
    at: fc.nat(),
    length: fc.integer({ min: 1, max: 8 }),
    other: fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: short }),
    newText: fc.oneof(short, text),
    replaceAll: fc.boolean(),
  });

  it('makes the same changes, and shows them in a diff that makes them again', () => {
    const seen = { applied: 0, refused: 0 };
    fc.assert(
      fc.property(text, fc.array(choice, { minLength: 1, maxLength: 4 }), fc.boolean(), (lf, choices, crlf) => {
        const characters = [...lf];
        const all = choices.map(({ at, length, other, newText, replaceAll }) => {
          const start = at % (characters.length + 1);
          return { oldText: other ?? characters.slice(start, start + length).join(''), newText, replaceAll };
        });
        const original = crlf && lf.includes('\n') ? lf.replaceAll('\n', '\r\n') : lf;
        const expected = model(original, all);
        if (expected === undefined) {
          seen.refused++;
          expect(failure(original, ...all).code).toMatch(/^text_not_(?:found|unique)$/);
          return;
        }
        seen.applied++;
        const { content, result } = applyReplacements(Buffer.from(original), all);
        expect(content.toString('utf8')).toBe(expected);
        if (expected === original) expect(result.diff).toBe('');
        else {
          const named = `--- a/f\n+++ b/f\n${result.diff}`;
          expect(applyPatch(Buffer.from(original), named).content.toString('utf8')).toBe(expected);
        }
        expect(result.lines).toHaveLength(result.replacements);
      }),
      { numRuns: 3000 },
    );
    expect(Math.min(seen.applied, seen.refused)).toBeGreaterThan(100);
  });

  it('says the line of a single replacement', () => {
    fc.assert(
      fc.property(text, short, short, (original, oldText, newText) => {
        if (model(original, [to(oldText, newText)]) === undefined) return;
        const { result } = applyReplacements(Buffer.from(original), [to(oldText, newText)]);
        expect(result.lines).toEqual([original.slice(0, original.indexOf(oldText)).split('\n').length]);
      }),
      { numRuns: 1000 },
    );
  });
});
