import { expect, test } from 'vitest';
import { readAt } from './byte-source.ts';

test('what was read stays as it is, whatever is read later', () => {
  const read = (value: number) => (into: Buffer) => into.fill(value).length;
  const parts = Array.from({ length: 200 }, (_, value) => readAt({ size: 0, read: read(value) }, 0, 1 + value * 173));
  for (const [value, part] of parts.entries()) {
    expect(part).toHaveLength(1 + value * 173);
    expect(part.every((byte) => byte === value)).toBe(true);
  }
});
