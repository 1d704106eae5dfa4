import type { ProbePositions, ProbeTables } from '../kernels/search-memory.ts';
import { frequencyInScript, jointProbability } from './byte-frequency.ts';
import type { ByteSequence } from './byte-sequence.ts';

/** How many places of a window are compared. */
export const MAX_POSITIONS = 16;
/** How many windows can be told apart: a bit of a number for each. */
export const MAX_SEQUENCES = 32;
/** How many places are looked at first. */
const PROBES = 3;
/** Bytes per vector. */
const LANES = 16;

/** Nanoseconds: a byte by a mask, by nibbles or by buckets, 16 bytes of which some fit at two places, and one where three fit in vain. */
const BY_MASK = 0.08;
const BY_NIBBLES = 0.13;
const BY_BUCKETS = 0.15;
const STOP = 5;
const MISS = 6;

/** Bits of a byte: so many windows, or sets of upper halves, can be told apart at first. */
const GROUPS = 8;

type TableBytes = ReturnType<ProbeTables['bytes']>;

/** Probe tables, and what looking for their sequences costs. */
export interface CostedTables extends ProbeTables {
  /** Nanoseconds per byte of typical text. */
  readonly cost: number;
}

interface ProbeCost {
  readonly kind: ProbeTables['kind'];
  readonly positions: ProbePositions;
  /** Nanoseconds per byte: to look at it, and for stops. */
  readonly scan: number;
  readonly stops: number;
}

/** The cheapest way to look for windows of which one is to fit. */
export function buildProbeTables(sequences: readonly ByteSequence[]): CostedTables {
  const groups = grouped(sequences, GROUPS);
  const shortest = Math.min(MAX_POSITIONS, ...sequences.map((sequence) => sequence.length));
  const longest = Math.min(MAX_POSITIONS, Math.max(...sequences.map((sequence) => sequence.length)));
  const all = unionOf(sequences, shortest);
  const kinds: ProbeCost[] = [
    { kind: 'mask', scan: BY_MASK, ...chooseProbes([all.map(aroundMask)]) },
    { kind: 'nibbles', scan: BY_NIBBLES, ...chooseProbes([all.map((bytes) => frequencyInScript(bytes))]) },
  ];
  if (groups.length > 1) {
    const byGroup = groups.map((sequence) => sequence.slice(0, shortest).map(around));
    kinds.push({ kind: 'buckets', scan: BY_BUCKETS, ...chooseProbes(byGroup, { stop: 0 }) });
  }
  const { kind, positions, scan, stops } = kinds.reduce((a, b) => (b.scan + b.stops < a.scan + a.stops ? b : a));
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
  /** What any of them fits. */
  readonly all: ByteSequence;
  readonly kind: ProbeTables['kind'];
  readonly positions: ProbePositions;
}

function tablesOf({ sequences, groups, all, kind, positions }: TableInput): TableBytes {
  const probes = new Uint8Array(2 * LANES * PROBES);
  for (const [i, position] of positions.entries()) {
    const belonging = all[position] as readonly number[];
    const byGroup = () => nibbleTables(groups.map((sequence) => sequence[position] as readonly number[]));
    const tables =
      kind === 'mask' ? maskTables(belonging) : kind === 'nibbles' ? nibbleTables(nibbleRows(belonging)) : byGroup();
    probes.set(tables, 2 * LANES * i);
  }
  const fit = new Uint32Array(256 * MAX_POSITIONS);
  for (const [i, sequence] of grouped(sequences, MAX_SEQUENCES).entries()) addFit(fit, sequence, 1 << i);
  return { probes, sequences: new Uint8Array(fit.buffer) };
}

/** As many windows as can be told apart, each of which stands for one or more of these. */
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

/** What each of some windows fits, as far as they all go. */
function unionOf(sequences: readonly ByteSequence[], length: number): ByteSequence {
  const [only, ...others] = sequences;
  if (only !== undefined && others.length === 0) return only.slice(0, length);
  return Array.from({ length }, (_, i) => [...new Set(sequences.flatMap((sequence) => sequence[i] ?? []))]);
}

/** Any byte may follow a window. */
function addFit(fit: Uint32Array, sequence: ByteSequence, bit: number): void {
  for (let position = 0; position < MAX_POSITIONS; position += 1) {
    const row = fit.subarray(256 * position, 256 * (position + 1));
    const bytes = sequence[position] ?? row.keys();
    for (const byte of bytes) row[byte] = (row[byte] as number) | bit;
  }
}

/** The places where the fewest bytes of a text belong, for windows given by how many do; and what the stops there cost. */
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
  /** The bits in which all of some bytes are the same, and what they are. */
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

/** How many bytes of a text look like those of a set by their mask. */
function aroundMask(bytes: readonly number[]): number {
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

/** A bit for each set in both tables. Sets are taken for all bytes with a lower half and an upper half of theirs. */
function nibbleTables(sets: readonly (readonly number[])[]): Uint8Array {
  const tables = new Uint8Array(2 * LANES);
  for (const [i, bytes] of sets.entries()) {
    for (const byte of bytes) {
      for (const half of [byte & 15, LANES + (byte >> 4)]) tables[half] = (tables[half] as number) | (1 << i);
    }
  }
  return tables;
}

/** How many bytes of a text look like those of a set by halves. */
function around(bytes: readonly number[]): number {
  const lower = new Set(bytes.map((byte) => byte & 15));
  const upper = new Set(bytes.map((byte) => byte >> 4));
  const alike = [...upper].flatMap((high) => [...lower].map((low) => (high << 4) | low));
  return frequencyInScript(bytes, alike);
}

/** A set in parts that halves tell apart: bytes whose upper halves have the same lower halves. The last takes the rest. */
function nibbleRows(bytes: readonly number[]): number[][] {
  const lowers = new Array<number>(LANES).fill(0);
  for (const byte of bytes) lowers[byte >> 4] = (lowers[byte >> 4] as number) | (1 << (byte & 15));
  const kinds = [...new Set(lowers)].filter((lower) => lower !== 0);
  const rows: number[][] = kinds.slice(0, GROUPS).map(() => []);
  for (const byte of bytes) rows[Math.min(GROUPS - 1, kinds.indexOf(lowers[byte >> 4] as number))]?.push(byte);
  return rows;
}
