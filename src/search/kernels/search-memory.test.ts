import os from 'node:os';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { Root } from '../../fence/index.ts';
import { buildProbeTables } from '../prefilter/probe-tables.ts';
import { SearchMemory } from './search-memory.ts';

const root = Root.open('w', os.tmpdir());
const memory = new SearchMemory();
const buffer = memory.take(root);
afterAll(() => root[Symbol.dispose]());

/** Copies a text into SIMD memory, surrounded by copies of itself. */
function block(bytes: Uint8Array, at = 0): Buffer {
  const copy = Buffer.concat([bytes, bytes, bytes]);
  buffer.set(copy, at);
  return buffer.subarray(at + bytes.length, at + 2 * bytes.length);
}

test('the SIMD kernels are available on this machine', () => {
  expect(memory.holds(buffer)).toBe(true);
  expect(memory.holds(Buffer.alloc(8))).toBe(false);
  const plain = new SearchMemory({ simd: false });
  expect(plain.holds(plain.take(root))).toBe(false);
});

test('hands out each buffer once, and plain memory when none is left', () => {
  const other = new SearchMemory();
  const taken = Array.from({ length: 12 }, () => other.take(root));
  for (const [i, one] of taken.entries()) one.fill(i);
  expect(taken.every((one, i) => one.every((byte) => byte === i))).toBe(true);
  expect(taken.some((one) => other.holds(one))).toBe(true);
  expect(taken.every((one) => other.holds(one))).toBe(false);
  const held = taken.filter((one) => other.holds(one));
  for (const one of taken) other.giveBack(one);
  const again = new Set(Array.from({ length: 12 }, () => other.take(root)));
  expect(held.every((one) => again.has(one))).toBe(true);
  expect(again.size).toBe(12);
  const [plain] = taken.filter((one) => !other.holds(one)) as [Buffer];
  other.giveBack(held[0] as Buffer);
  other.giveBack(plain);
  expect(other.take(root)).toBe(held[0]);
});

test('reports whether there is a NUL before an offset', () => {
  fc.assert(
    fc.property(fc.uint8Array({ min: 1, maxLength: 100 }), fc.nat(100), fc.nat(120), (content, nul, to) => {
      if (nul < content.length) content[nul] = 0;
      const expected = nul < content.length && nul < to;
      expect(memory.hasNul(block(content), to)).toBe(expected);
      expect(memory.hasNul(Buffer.from(content), to)).toBe(expected);
    }),
  );
});

test('counts LFs between any two offsets, in SIMD and in plain memory', () => {
  const bytes = fc.uint8Array({ maxLength: 200 }).map((some) => some.map((byte) => (byte % 3 === 0 ? 0x0a : byte)));
  fc.assert(
    fc.property(bytes, fc.nat(200), fc.nat(200), fc.nat(20), (content, a, b, at) => {
      const [from, to] = [Math.min(a, b, content.length), Math.min(Math.max(a, b), content.length)];
      const expected = content.subarray(from, to).filter((byte) => byte === 0x0a).length;
      expect(memory.countLines(block(content, at), from, to)).toBe(expected);
      expect(memory.countLines(Buffer.from(content), from, to)).toBe(expected);
    }),
  );
});

test('counts more LFs than an 8-bit lane can hold', () => {
  for (const length of [4_080, 4_096, 4_112, 70_001]) {
    expect(memory.countLines(block(new Uint8Array(length).fill(0x0a)), 0, length)).toBe(length);
    expect(memory.countLines(block(new Uint8Array(length).fill(0x0b)), 0, length)).toBe(0);
  }
});

/**
 * A small alphabet, so that sequences match now and then; its bytes differ in the high nibble, the low nibble, or both.
 */
const byte = fc.constantFrom<number[]>(0x41, 0x61, 0x42, 0x62, 0x51, 0xe2, 0x84, 0x00, 0xff);
const positions = (most: number) =>
  fc.array(fc.uniqueArray(byte, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: most });

/** Bytes that no sequence allows, so that none matches past the end. */
const END = Array<number>(16).fill(0x7a);

test('finds the first position at or after an offset where a sequence matches', () => {
  const sequences = fc.array(positions(6), { minLength: 1, maxLength: 40 });
  const text = fc.array(byte, { maxLength: 120 }).map((bytes) => [...bytes, ...END]);
  const kinds = new Set<string>();
  fc.assert(
    fc.property(text, sequences, fc.nat(40), fc.nat(20), (bytes, some, from, at) => {
      const fits = (sequence: number[][], i: number) =>
        sequence.every((set, n) => set.includes(bytes[i + n] as number));
      const expected = bytes.findIndex((_, i) => i >= from && some.some((sequence) => fits(sequence, i)));
      const tables = buildProbeTables(some);
      kinds.add(tables.kind);
      const found = memory.find(block(Uint8Array.from(bytes), at), tables, { from, budget: 1_000 });
      // More than 32 sequences are merged, so there may be false positives.
      if (some.length <= 32) expect(found).toBe(expected);
      else if (expected !== -1)
        expect(found).toBeOneOf(Array.from({ length: expected - from + 1 }, (_, i) => from + i));
    }),
    { numRuns: 3_000 },
  );
  expect([...kinds].sort()).toEqual(['buckets', 'mask', 'nibbles']);
});

test('finds sequences far from other candidates and close to them', () => {
  const word = (text: string) => Array.from(Buffer.from(text), (byte) => [byte]);
  const digits = [...Buffer.from('0123456789')];
  const sequences = {
    mask: [word('QAB')],
    nibbles: [[digits, digits, digits]],
    buckets: ['ate', 'ing', 'ers', 'ion'].map(word),
  };
  const parts = fc.array(
    fc.tuple(fc.nat(300), fc.constantFrom('QA', 'QAx', '12', '9', 'at', 'ine', 'QAB', '123', 'ers', 'ion')),
  );
  for (const [kind, some] of Object.entries(sequences)) {
    const tables = buildProbeTables(some);
    expect(tables.kind).toBe(kind);
    fc.assert(
      fc.property(parts, fc.nat(100), (all, from) => {
        const bytes = Buffer.from(`${all.map(([gap, part]) => 'z'.repeat(gap) + part).join('')}zzz`);
        const fits = (sequence: number[][], i: number) =>
          sequence.every((set, n) => set.includes(bytes[i + n] as number));
        const expected = bytes.findIndex((_, i) => i >= from && some.some((sequence) => fits(sequence, i)));
        expect(memory.find(block(bytes), tables, { from, budget: 10_000 })).toBe(expected);
      }),
    );
  }
});

test('finds all byte values and verifies all 16 positions', () => {
  const sequence = fc.array(fc.uniqueArray(fc.nat(255), { minLength: 1, maxLength: 60 }), {
    minLength: 1,
    maxLength: 16,
  });
  fc.assert(
    fc.property(sequence, fc.nat(15), fc.nat(255), (bytes, position, other) => {
      const tables = buildProbeTables([bytes]);
      const text = bytes.map((some) => some.at(-1) as number);
      const search = { from: 0, budget: 1_000 };
      expect(memory.find(block(Uint8Array.from(text)), tables, search)).toBe(0);
      const at = position % bytes.length;
      text[at] = other;
      const fits = bytes[at]?.includes(other) === true;
      expect(memory.find(block(Uint8Array.from(text)), tables, search)).toBe(fits ? 0 : -1);
    }),
    { numRuns: 1_000 },
  );
});

test('returns an unverified position and no budget when the budget is used up', () => {
  const tables = buildProbeTables([[[0x51], [0x51], [0x51], [0x41]]]);
  const text = block(Buffer.from('Q'.repeat(100)));
  expect(memory.find(text, tables, { from: 0, budget: 10 })).toBe(9);
  expect(memory.budgetLeft).toBe(0);
  expect(memory.find(text, tables, { from: 0, budget: 1_000 })).toBe(-1);
  expect(memory.budgetLeft).toBeGreaterThan(800);
  expect(memory.find(text, tables, { from: 98, budget: 10 })).toBe(-1);
  expect(memory.budgetLeft).toBe(10);
});
