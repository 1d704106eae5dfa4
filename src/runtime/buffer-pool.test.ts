import { expect, test } from 'vitest';
import { BufferPool } from './buffer-pool.ts';

test('allocations do not overlap', () => {
  const slab = new BufferPool();
  const lengths = Array.from({ length: 300 }, (_, i) => 1 + ((i * 7919) % 40_000));
  const parts = lengths.map((length, i) => slab.allocate(length).fill(i % 251));
  for (const [i, part] of parts.entries()) {
    expect(part).toHaveLength(lengths[i] as number);
    expect(part.every((byte) => byte === i % 251)).toBe(true);
  }
});

test('encodes texts of any length as UTF-8', () => {
  const slab = new BufferPool();
  const texts = Array.from(
    { length: 300 },
    (_, i) => ['a', 'é', '€', '\u{1f600}', ''][i % 5]?.repeat(i * 50) as string,
  );
  const kept = texts.map((text) => slab.encode(text));
  for (const [i, bytes] of kept.entries()) expect(bytes.equals(Buffer.from(texts[i] as string))).toBe(true);
});
