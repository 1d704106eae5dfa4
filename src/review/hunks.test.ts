import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hunksOf, withHunks, withoutHunks } from './hunks.ts';
import { joinLines, lineText, splitLines } from './lines.ts';

const numbered = (count: number): string[] => Array.from({ length: count }, (_, i) => `line ${i + 1}\n`);
/** Few different lines, so that texts have much in common. */
const someText = fc.array(fc.constantFrom('a\n', 'b\n', 'c\n', 'd\r\n'), { maxLength: 40 });

describe('lines', () => {
  test('keep every byte, whatever the encoding and the line ends', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        expect(joinLines(splitLines(Buffer.from(bytes)))).toEqual(Buffer.from(bytes));
      }),
    );
    expect(splitLines(Buffer.from('a\r\nb\n\nc'))).toEqual(['a\r\n', 'b\n', '\n', 'c']);
    expect(splitLines(Buffer.from(''))).toEqual([]);
  });

  test('are read as UTF-8', () => {
    expect(splitLines(Buffer.from('grün\n')).map(lineText)).toEqual(['grün']);
  });
});

describe('hunks', () => {
  test('show three lines around a change, and changes that are near together', () => {
    const after = numbered(40);
    after.splice(9, 1, 'ten\n');
    after.splice(15, 1);
    after.splice(34, 0, 'new\n');
    const hunks = hunksOf({ before: numbered(40), after });
    expect(hunks.map(({ number, range, changes }) => [number, range, changes.length])).toEqual([
      [1, { oldStart: 6, oldEnd: 19, newStart: 6, newEnd: 18 }, 2],
      [2, { oldStart: 32, oldEnd: 38, newStart: 31, newEnd: 38 }, 1],
    ]);
    expect(hunks[1]?.lines.map(({ sign, line }) => sign + line.trim())).toEqual([
      ' line 33',
      ' line 34',
      ' line 35',
      '+new',
      ' line 36',
      ' line 37',
      ' line 38',
    ]);
  });

  test('have all that they show of both texts, and all that differs is in one', () => {
    fc.assert(
      fc.property(someText, someText, (before, after) => {
        const hunks = hunksOf({ before, after });
        for (const { range, lines } of hunks) {
          const shown = (hidden: string) => lines.filter(({ sign }) => sign !== hidden).map(({ line }) => line);
          expect(shown('+')).toEqual(before.slice(range.oldStart, range.oldEnd));
          expect(shown('-')).toEqual(after.slice(range.newStart, range.newEnd));
        }
        expect(withHunks({ before, after }, hunks)).toEqual(after);
        expect(withoutHunks({ before, after }, hunks)).toEqual(before);
      }),
    );
  });

  test('are accepted or left out one by one', () => {
    fc.assert(
      fc.property(someText, someText, fc.nat(), (before, after, seed) => {
        const hunks = hunksOf({ before, after });
        const [some, rest] = [0, 1].map((bit) => hunks.filter((_, index) => ((seed >> index) & 1) === bit));
        expect(withHunks({ before, after }, some ?? [])).toEqual(withoutHunks({ before, after }, rest ?? []));
      }),
    );
  });
});
