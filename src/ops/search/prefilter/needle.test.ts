import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Needle } from './needle.ts';

/** With bytes of all frequencies, so that the piece that is looked for begins anywhere. */
const letters = fc.string({ unit: fc.constantFrom('e', 't', 'g', 'Q', '~', 'é'), minLength: 1, maxLength: 12 });

test('finds the first of all places, from an offset on', () => {
  fc.assert(
    fc.property(letters, fc.array(letters, { maxLength: 20 }), fc.nat(20), (text, parts, from) => {
      const bytes = Buffer.from(text);
      const region = Buffer.from(parts.join(text.slice(1)));
      const expected = region.indexOf(bytes, from);
      const at = new Needle(bytes).indexIn(region, from);
      if (expected === -1) expect(at).toBe(-1);
      else expect(at - expected).toBeOneOf([...bytes.keys()]);
    }),
    { numRuns: 1_000 },
  );
});

test('costs less the rarer its rarest byte is', () => {
  const costs = ['Q~', 'extra', 'tent', 'e'].map((text) => new Needle(Buffer.from(text)).cost);
  expect(costs).toEqual([...costs].sort((a, b) => a - b));
});
