import { chanceOf, frequencyWhereNamed } from './byte-frequency.ts';
import type { ByteWindow } from './byte-sequence.ts';

/** How many places of a window are compared. */
export const MOST_PLACES = 16;
/** How many windows can be told apart: a bit of a number for each. */
export const MOST_WINDOWS = 32;
/** How many places are looked at first. */
const PLACES = 3;
/** Bytes per vector. */
const STEP = 16;

/** Nanoseconds: a byte by a mask, by nibbles or by buckets, 16 bytes of which some fit at two places, and one where three fit in vain. */
const BY_MASK = 0.08;
const BY_NIBBLES = 0.13;
const BY_BUCKETS = 0.15;
const STOP = 5;
const MISS = 6;

/** Bits of a byte: so many windows, or sets of upper halves, can be told apart at first. */
const GROUPS = 8;

type Places = [number, number, number];

/** Windows of which one is to fit, in the form in which they are looked for; see assembly/index.ts. */
export interface WindowTables {
  /** What the kernel's memory gets. Made when it is first asked for, since of several ways only one is gone. */
  bytes(): TableBytes;
  readonly way: 'mask' | 'nibbles' | 'buckets';
  /** The places that are looked at first. */
  readonly places: Places;
  /** Of the shortest window, and of the longest as far as it is compared. */
  readonly shortest: number;
  readonly longest: number;
  /** Nanoseconds per byte of typical text. */
  readonly cost: number;
}

interface TableBytes {
  readonly probes: Uint8Array;
  readonly sequences: Uint8Array;
}

interface Way {
  readonly way: WindowTables['way'];
  readonly places: Places;
  /** Nanoseconds per byte: to look at it, and for stops. */
  readonly scan: number;
  readonly stops: number;
}

/** The cheapest way to look for windows of which one is to fit. */
export function windowTables(windows: readonly ByteWindow[]): WindowTables {
  const groups = grouped(windows, GROUPS);
  const shortest = Math.min(MOST_PLACES, ...windows.map((window) => window.length));
  const longest = Math.min(MOST_PLACES, Math.max(...windows.map((window) => window.length)));
  const all = unionOf(windows, shortest);
  const ways: Way[] = [
    { way: 'mask', scan: BY_MASK, ...choosePlaces([all.map(aroundMask)]) },
    { way: 'nibbles', scan: BY_NIBBLES, ...choosePlaces([all.map((bytes) => frequencyWhereNamed(bytes))]) },
  ];
  if (groups.length > 1) {
    const byGroup = groups.map((window) => window.slice(0, shortest).map(around));
    ways.push({ way: 'buckets', scan: BY_BUCKETS, ...choosePlaces(byGroup, { stop: 0 }) });
  }
  const { way, places, scan, stops } = ways.reduce((a, b) => (b.scan + b.stops < a.scan + a.stops ? b : a));
  let made: TableBytes | undefined;
  const bytes = (): TableBytes => {
    made ??= tablesOf({ windows, groups, all, way, places });
    return made;
  };
  return { bytes, way, places, shortest, longest, cost: scan + stops };
}

interface Choice {
  readonly windows: readonly ByteWindow[];
  readonly groups: readonly ByteWindow[];
  /** What any of them fits. */
  readonly all: ByteWindow;
  readonly way: WindowTables['way'];
  readonly places: Places;
}

function tablesOf({ windows, groups, all, way, places }: Choice): TableBytes {
  const probes = new Uint8Array(2 * STEP * PLACES);
  for (const [i, place] of places.entries()) {
    const belonging = all[place] as readonly number[];
    const byGroup = () => halvesOf(groups.map((window) => window[place] as readonly number[]));
    const tables = way === 'mask' ? maskTables(belonging) : way === 'nibbles' ? halvesOf(rowsOf(belonging)) : byGroup();
    probes.set(tables, 2 * STEP * i);
  }
  const fit = new Uint32Array(256 * MOST_PLACES);
  for (const [i, window] of grouped(windows, MOST_WINDOWS).entries()) addFit(fit, window, 1 << i);
  return { probes, sequences: new Uint8Array(fit.buffer) };
}

/** As many windows as can be told apart, each of which stands for one or more of these. */
function grouped(windows: readonly ByteWindow[], most: number): ByteWindow[] {
  if (windows.length <= most) return [...windows];
  const sorted = [...windows].sort(
    (a, b) => (a[0]?.[0] ?? 0) - (b[0]?.[0] ?? 0) || (a[1]?.[0] ?? 0) - (b[1]?.[0] ?? 0),
  );
  const size = Math.ceil(windows.length / most);
  return Array.from({ length: Math.ceil(windows.length / size) }, (_, i) => {
    const some = sorted.slice(i * size, (i + 1) * size);
    return unionOf(some, Math.min(...some.map((window) => window.length)));
  });
}

/** What each of some windows fits, as far as they all go. */
function unionOf(windows: readonly ByteWindow[], length: number): ByteWindow {
  const [only, ...others] = windows;
  if (only !== undefined && others.length === 0) return only.slice(0, length);
  return Array.from({ length }, (_, i) => [...new Set(windows.flatMap((window) => window[i] ?? []))]);
}

/** Any byte may follow a window. */
function addFit(fit: Uint32Array, window: ByteWindow, bit: number): void {
  for (let place = 0; place < MOST_PLACES; place += 1) {
    const row = fit.subarray(256 * place, 256 * (place + 1));
    const bytes = window[place] ?? row.keys();
    for (const byte of bytes) row[byte] = (row[byte] as number) | bit;
  }
}

/** The places where the fewest bytes of a text belong, for windows given by how many do; and what the stops there cost. */
function choosePlaces(windows: readonly (readonly number[])[], { stop = STOP } = {}): Pick<Way, 'places' | 'stops'> {
  const chance = (...places: number[]): number => {
    let sum = 0;
    for (const window of windows) sum += chanceOf([...new Set(places)].map((place) => window[place] as number));
    return sum;
  };
  const [first = 0, second = first, third = second] = [...(windows[0] as readonly number[]).keys()]
    .map((place) => ({ place, chance: chance(place) }))
    .sort((a, b) => a.chance - b.chance)
    .slice(0, PLACES)
    .map(({ place }) => place);
  const stops = stop * Math.min(1 / STEP, chance(first, second)) + MISS * Math.min(1, chance(first, second, third));
  return { places: [first, second, third], stops };
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
  if (mask === 0xff) return frequencyWhereNamed(bytes);
  if (mask === 0) return 1;
  const alike: number[] = [];
  for (let byte = 0; byte < 256; byte += 1) if ((byte & mask) === value) alike.push(byte);
  return frequencyWhereNamed(bytes, alike);
}

function maskTables(bytes: readonly number[]): Uint8Array {
  const { mask, value } = maskOf(bytes);
  return new Uint8Array(2 * STEP).fill(mask, 0, STEP).fill(value, STEP);
}

/** A bit for each set in both tables. Sets are taken for all bytes with a lower half and an upper half of theirs. */
function halvesOf(sets: readonly (readonly number[])[]): Uint8Array {
  const tables = new Uint8Array(2 * STEP);
  for (const [i, bytes] of sets.entries()) {
    for (const byte of bytes) {
      for (const half of [byte & 15, STEP + (byte >> 4)]) tables[half] = (tables[half] as number) | (1 << i);
    }
  }
  return tables;
}

/** How many bytes of a text look like those of a set by halves. */
function around(bytes: readonly number[]): number {
  const lower = new Set(bytes.map((byte) => byte & 15));
  const upper = new Set(bytes.map((byte) => byte >> 4));
  const alike = [...upper].flatMap((high) => [...lower].map((low) => (high << 4) | low));
  return frequencyWhereNamed(bytes, alike);
}

/** A set in parts that halves tell apart: bytes whose upper halves have the same lower halves. The last takes the rest. */
function rowsOf(bytes: readonly number[]): number[][] {
  const lowers = new Array<number>(STEP).fill(0);
  for (const byte of bytes) lowers[byte >> 4] = (lowers[byte >> 4] as number) | (1 << (byte & 15));
  const kinds = [...new Set(lowers)].filter((lower) => lower !== 0);
  const rows: number[][] = kinds.slice(0, GROUPS).map(() => []);
  for (const byte of bytes) rows[Math.min(GROUPS - 1, kinds.indexOf(lowers[byte >> 4] as number))]?.push(byte);
  return rows;
}
