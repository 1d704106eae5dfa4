import os from 'node:os';
import { expect, test } from 'vitest';
import { Root } from '../../fence/index.ts';
import { ReadMemory } from './read-memory.ts';

test('counts LFs between any two offsets, in its own memory and elsewhere', () => {
  using root = Root.open('w', os.tmpdir());
  const memory = new ReadMemory(root, 100_000);
  expect(memory.bytes.length).toBe(100_000);
  let seed = 1;
  for (let i = 0; i < memory.bytes.length; i += 1) {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    memory.bytes[i] = [0x0a, 0x8a, 0x0b, 0x00, 0xff, 0x1a, 0x09, 0x7f][(seed >> 16) % 8] as number;
  }
  const elsewhere = Buffer.from(memory.bytes);
  for (const [from, to] of [
    [0, 100_000],
    [1, 99_999],
    [7, 7],
    [7, 22],
    [7, 23],
    [7, 24],
    [99_984, 100_000],
  ] as const) {
    const expected = elsewhere.subarray(from, to).filter((byte) => byte === 0x0a).length;
    expect(memory.countLines(memory.bytes, from, to)).toBe(expected);
    expect(memory.countLines(memory.bytes.subarray(from), 0, to - from)).toBe(expected);
    expect(memory.countLines(elsewhere, from, to)).toBe(expected);
  }
});
