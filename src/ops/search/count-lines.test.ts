import { expect, test } from 'vitest';
import { countLines } from './count-lines.ts';

test('counts LFs and nothing that looks like one, from any offset to any other', () => {
  const bytes = Buffer.alloc(4_000);
  let seed = 1;
  for (let i = 0; i < bytes.length; i += 1) {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    bytes[i] = [0x0a, 0x8a, 0x0b, 0x00, 0xff, 0x0a, 0x09, 0x7f][(seed >> 16) % 8] as number;
  }
  const naive = (from: number, to: number) => bytes.subarray(from, to).filter((byte) => byte === 0x0a).length;
  for (const [from, to] of [
    [0, 4_000],
    [1, 3_999],
    [2, 3],
    [3, 3],
    [5, 8],
    [7, 2_001],
    [3_998, 4_000],
  ] as const) {
    expect(countLines(bytes, from, to)).toBe(naive(from, to));
    expect(countLines(bytes.subarray(1), from, to - 1)).toBe(naive(from + 1, to));
  }
  expect(countLines(Buffer.alloc(70_000, '\n'), 0, 70_000)).toBe(70_000);
});
