import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cooperativeSort } from './cooperative-sort.ts';

const never = { pause: () => undefined };

test('sorts like the built-in sort, with and without a comparison, and is stable', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.string({ maxLength: 3 }), { maxLength: 200 }), fc.nat(300), async (some, times) => {
      const items = Array.from({ length: times }, () => some).flat();
      expect(await cooperativeSort(items, never)).toEqual(items.toSorted());
      const pairs = items.map((text, index) => ({ text, index }));
      const compare = (a: { text: string }, b: { text: string }) => b.text.length - a.text.length;
      expect(await cooperativeSort(pairs, { ...never, compare })).toEqual(pairs.toSorted(compare));
    }),
    { numRuns: 20 },
  );
});

test('pauses between all steps', async () => {
  const items = Array.from({ length: 50_000 }, (_, index) => String((index * 7919) % 50_000));
  let pauses = 0;
  const pause = () => {
    pauses += 1;
    return Promise.resolve();
  };
  expect(await cooperativeSort(items, { pause })).toEqual(items.toSorted());
  // Four runs are merged in two rounds.
  expect(pauses).toBeGreaterThan(4 + items.length / 4096);
});
