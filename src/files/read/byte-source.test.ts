import { expect, test } from 'vitest';
import { readAt } from './byte-source.ts';

test('bytes already read are not overwritten by later reads', () => {
  const read = (value: number) => (into: Buffer) => into.fill(value).length;
  const parts = Array.from({ length: 200 }, (_, value) => readAt({ size: 0, read: read(value) }, 0, 1 + value * 173));
  for (const [value, part] of parts.entries()) {
    expect(part).toHaveLength(1 + value * 173);
    expect(part.every((byte) => byte === value)).toBe(true);
  }
});
