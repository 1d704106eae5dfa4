import fc from 'fast-check';
import { expect, test } from 'vitest';
import { InFlight } from './in-flight.ts';

test('holds what was added and not deleted', () => {
  const steps = fc.array(fc.record({ add: fc.boolean(), item: fc.nat(9) }), { maxLength: 40 });
  fc.assert(
    fc.property(steps, (all) => {
      const [inFlight, expected] = [new InFlight<number>(), new Set<number>()];
      for (const { add, item } of all) {
        if (add && !expected.has(item)) inFlight.add(item);
        if (!add) inFlight.delete(item);
        expected[add ? 'add' : 'delete'](item);
        expect(inFlight.all().sort()).toEqual([...expected].sort());
        expect(inFlight.size).toBe(expected.size);
        expect(inFlight.find((each) => each === item)).toBe(expected.has(item) ? item : undefined);
      }
    }),
  );
});

test('what goes while all are looked at does not change what is looked at', () => {
  const inFlight = new InFlight<number>();
  for (const item of [1, 2, 3]) inFlight.add(item);
  const seen: number[] = [];
  for (const item of inFlight.all()) {
    seen.push(item);
    inFlight.delete(item);
  }
  expect(seen).toEqual([1, 2, 3]);
  expect(inFlight.size).toBe(0);
});
