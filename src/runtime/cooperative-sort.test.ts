import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cooperativeSort } from './cooperative-sort.ts';

const never = { pause: () => undefined };

test('sorts as the built-in sort does, by units or by any other order, equals in their old order', async () => {
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

test('pauses between all its steps', async () => {
  const items = Array.from({ length: 50_000 }, (_, index) => String((index * 7919) % 50_000));
  let pauses = 0;
  const pause = () => {
    pauses += 1;
    return Promise.resolve();
  };
  expect(await cooperativeSort(items, { pause })).toEqual(items.toSorted());
  // Of runs there are four, and they are merged twice.
  expect(pauses).toBeGreaterThan(4 + items.length / 4096);
});
