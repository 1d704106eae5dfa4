import type { ProbePositions, ProbeTables } from '../kernels/search-memory.ts';
import { frequencyInScript, jointProbability } from './byte-frequency.ts';
import { type ByteSequence, MAX_SEQUENCES } from './byte-sequence.ts';

/** Maximum number of positions of a sequence that are verified. */
export const MAX_POSITIONS = 16;
/** Number of probe positions. */
const PROBES = 3;
/** Bytes per vector. */
const LANES = 16;

/** Nanoseconds per byte of a scan with `mask` probes, measured. */
const BY_MASK = 0.08;
/** Nanoseconds per byte of a scan with `nibbles` probes, measured. */
const BY_NIBBLES = 0.13;
/** Nanoseconds per byte of a scan with `buckets` probes, measured. */
const BY_BUCKETS = 0.15;
/** Nanoseconds per vector in which two probes match, measured. */
const STOP = 5;
/** Nanoseconds per candidate that is rejected, measured. */
const MISS = 6;

/** Number of buckets, or of rows of a nibble table: one bit each in a byte. */
const GROUPS = 8;

type TableBytes = ReturnType<ProbeTables['bytes']>;

/** Probe tables, and the estimated cost of searching with them. */
export interface CostedTables extends ProbeTables {
  /** Estimated nanoseconds per byte of typical text. */
  readonly cost: number;
}

interface ProbeCost {
  readonly kind: ProbeTables['kind'];
  readonly positions: ProbePositions;
  /** Estimated nanoseconds per byte for the scan itself, and for vectors and candidates that need a closer look. */
  readonly scan: number;
  readonly stops: number;
}

/**
 * Encodes sequences for the kernel with the lowest estimated cost: `mask` and `nibbles` treat all sequences as one,
 * `buckets` (Teddy) keeps up to eight groups apart. At least one sequence must match for a candidate to be reported.
 * Sequences beyond `MAX_SEQUENCES` are merged, which may add false positives but never misses a match.
 */
export function buildProbeTables(sequences: readonly ByteSequence[]): CostedTables {
  const groups = grouped(sequences, GROUPS);
  const shortest = Math.min(MAX_POSITIONS, ...sequences.map((sequence) => sequence.length));
  const longest = Math.min(MAX_POSITIONS, Math.max(...sequences.map((sequence) => sequence.length)));
  const all = unionOf(sequences, shortest);
  const candidates: ProbeCost[] = [
    { kind: 'mask', scan: BY_MASK, ...chooseProbes([all.map(maskFrequency)]) },
    { kind: 'nibbles', scan: BY_NIBBLES, ...chooseProbes([all.map((bytes) => frequencyInScript(bytes))]) },
  ];
  if (groups.length > 1) {
    const byGroup = groups.map((sequence) => sequence.slice(0, shortest).map(nibbleFrequency));
    candidates.push({ kind: 'buckets', scan: BY_BUCKETS, ...chooseProbes(byGroup, { stop: 0 }) });
  }
  const { kind, positions, scan, stops } = candidates.reduce((a, b) => (b.scan + b.stops < a.scan + a.stops ? b : a));
  let made: TableBytes | undefined;
  const bytes = (): TableBytes => {
    made ??= tablesOf({ sequences, groups, all, kind, positions });
    return made;
  };
  return { bytes, kind, positions, shortest, longest, cost: scan + stops };
}

interface TableInput {
  readonly sequences: readonly ByteSequence[];
  readonly groups: readonly ByteSequence[];
  /** The union of all sequences. */
  readonly all: ByteSequence;
  readonly kind: ProbeTables['kind'];
  readonly positions: ProbePositions;
}

function tablesOf({ sequences, groups, all, kind, positions }: TableInput): TableBytes {
  const probes = new Uint8Array(2 * LANES * PROBES);
  for (const [i, position] of positions.entries()) {
    const allowed = all[position] as readonly number[];
    const byGroup = () => nibbleTables(groups.map((sequence) => sequence[position] as readonly number[]));
    const tables =
      kind === 'mask' ? maskTables(allowed) : kind === 'nibbles' ? nibbleTables(nibbleRows(allowed)) : byGroup();
    probes.set(tables, 2 * LANES * i);
  }
  const fit = new Uint32Array(256 * MAX_POSITIONS);
  for (const [i, sequence] of grouped(sequences, MAX_SEQUENCES).entries()) addFit(fit, sequence, 1 << i);
  return { probes, sequences: new Uint8Array(fit.buffer) };
}

/** Merges similar sequences until there are at most `most`, by taking their unions. */
function grouped(sequences: readonly ByteSequence[], most: number): ByteSequence[] {
  if (sequences.length <= most) return [...sequences];
  const sorted = [...sequences].sort(
    (a, b) => (a[0]?.[0] ?? 0) - (b[0]?.[0] ?? 0) || (a[1]?.[0] ?? 0) - (b[1]?.[0] ?? 0),
  );
  const size = Math.ceil(sequences.length / most);
  return Array.from({ length: Math.ceil(sequences.length / size) }, (_, i) => {
    const some = sorted.slice(i * size, (i + 1) * size);
    return unionOf(some, Math.min(...some.map((sequence) => sequence.length)));
  });
}

/** Returns, for each position that all sequences have, the union of their bytes. */
function unionOf(sequences: readonly ByteSequence[], length: number): ByteSequence {
  const [only, ...others] = sequences;
  if (only !== undefined && others.length === 0) return only.slice(0, length);
  return Array.from({ length }, (_, i) => [...new Set(sequences.flatMap((sequence) => sequence[i] ?? []))]);
}

/** Sets a sequence's bit in the verification table. After its end, any byte is allowed. */
function addFit(fit: Uint32Array, sequence: ByteSequence, bit: number): void {
  for (let position = 0; position < MAX_POSITIONS; position += 1) {
    const row = fit.subarray(256 * position, 256 * (position + 1));
    const bytes = sequence[position] ?? row.keys();
    for (const byte of bytes) row[byte] = (row[byte] as number) | bit;
  }
}

/**
 * Chooses the probe positions with the rarest bytes and estimates the cost of candidates there. Each sequence is given
 * by the frequency of its bytes at each position.
 */
function chooseProbes(
  sequences: readonly (readonly number[])[],
  { stop = STOP } = {},
): Pick<ProbeCost, 'positions' | 'stops'> {
  const chance = (...positions: number[]): number => {
    let sum = 0;
    for (const sequence of sequences)
      sum += jointProbability([...new Set(positions)].map((position) => sequence[position] as number));
    return sum;
  };
  const [first = 0, second = first, third = second] = [...(sequences[0] as readonly number[]).keys()]
    .map((position) => ({ position, chance: chance(position) }))
    .sort((a, b) => a.chance - b.chance)
    .slice(0, PROBES)
    .map(({ position }) => position);
  const stops = stop * Math.min(1 / LANES, chance(first, second)) + MISS * Math.min(1, chance(first, second, third));
  return { positions: [first, second, third], stops };
}

interface Mask {
  /** The bits that all bytes have in common, and their value. */
  readonly mask: number;
  readonly value: number;
}

function maskOf(bytes: readonly number[]): Mask {
  let all = 0xff;
  let any = 0;
  for (const byte of bytes) {
    all &= byte;
    any |= byte;
  }
  const mask = 0xff & ~(all ^ any);
  return { mask, value: all & mask };
}

/** Returns the frequency of all bytes that the mask test accepts. */
function maskFrequency(bytes: readonly number[]): number {
  const { mask, value } = maskOf(bytes);
  if (mask === 0xff) return frequencyInScript(bytes);
  if (mask === 0) return 1;
  const alike: number[] = [];
  for (let byte = 0; byte < 256; byte += 1) if ((byte & mask) === value) alike.push(byte);
  return frequencyInScript(bytes, alike);
}

function maskTables(bytes: readonly number[]): Uint8Array {
  const { mask, value } = maskOf(bytes);
  return new Uint8Array(2 * LANES).fill(mask, 0, LANES).fill(value, LANES);
}

/**
 * Builds the shufti tables: set `i` has bit `i` at the low and the high nibble of each of its bytes. The test therefore
 * accepts every combination of its low and high nibbles.
 */
function nibbleTables(sets: readonly (readonly number[])[]): Uint8Array {
  const tables = new Uint8Array(2 * LANES);
  for (const [i, bytes] of sets.entries()) {
    for (const byte of bytes) {
      for (const half of [byte & 15, LANES + (byte >> 4)]) tables[half] = (tables[half] as number) | (1 << i);
    }
  }
  return tables;
}

/** Returns the frequency of all bytes that the nibble test accepts for a set. */
function nibbleFrequency(bytes: readonly number[]): number {
  const lower = new Set(bytes.map((byte) => byte & 15));
  const upper = new Set(bytes.map((byte) => byte >> 4));
  const alike = [...upper].flatMap((high) => [...lower].map((low) => (high << 4) | low));
  return frequencyInScript(bytes, alike);
}

/**
 * Splits a set into rows whose bytes share the same low nibbles for every high nibble, so that the nibble test is
 * exact. The last row takes the rest and may be inexact.
 */
function nibbleRows(bytes: readonly number[]): number[][] {
  const lowers = new Array<number>(LANES).fill(0);
  for (const byte of bytes) lowers[byte >> 4] = (lowers[byte >> 4] as number) | (1 << (byte & 15));
  const kinds = [...new Set(lowers)].filter((lower) => lower !== 0);
  const rows: number[][] = kinds.slice(0, GROUPS).map(() => []);
  for (const byte of bytes) rows[Math.min(GROUPS - 1, kinds.indexOf(lowers[byte >> 4] as number))]?.push(byte);
  return rows;
}
