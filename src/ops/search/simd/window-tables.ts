import { chanceOf, FREQUENCIES, frequencyOf } from '../prefilter/byte-frequency.ts';
import type { ByteWindow } from '../prefilter/byte-window.ts';
import { PLACES, STEP, WINDOW } from './functions.ts';

/** Nanoseconds: a byte by either way, 16 bytes of which some fit at two places, and one where all three fit in vain. */
const BY_MASK = 0.08;
const BY_HALVES = 0.13;
const STOP = 5;
const MISS = 6;

/** Sets of upper halves that can be told apart. */
const GROUPS = 8;

/** A window in the form in which it is looked for; see functions.ts. At most `MOST_PLACES`. */
export interface WindowTables {
  /** What is copied to `WINDOW.tables`. */
  readonly bytes: Uint8Array;
  /** The places that are looked at first. */
  readonly places: [number, number, number];
  readonly length: number;
  /** By halves, which tell bytes apart that a mask does not. */
  readonly exact: boolean;
  /** Nanoseconds per byte of typical text. */
  readonly cost: number;
}

/** The cheaper way to look for a window. */
export function windowTables(window: ByteWindow): WindowTables {
  const byMask = choosePlaces(window.map((bytes) => frequencyAround(maskOf(bytes))));
  const byHalves = choosePlaces(window.map(frequencyOf));
  const exact = BY_HALVES + byHalves.cost < BY_MASK + byMask.cost;
  const { places, cost } = exact ? byHalves : byMask;
  const bytes = new Uint8Array(WINDOW.end - WINDOW.tables);
  for (const [i, place] of places.entries()) {
    const belonging = window[place] as readonly number[];
    bytes.set(exact ? halvesOf(belonging) : maskTables(belonging), 2 * STEP * i);
  }
  const fit = new Int32Array(bytes.buffer, WINDOW.fit - WINDOW.tables);
  for (const [i, belonging] of window.entries())
    for (const byte of belonging) fit[byte] = (fit[byte] as number) | (1 << i);
  return { bytes, places, length: window.length, exact, cost: cost + (exact ? BY_HALVES : BY_MASK) };
}

/** The places where the fewest bytes of a text belong. */
function choosePlaces(frequencies: readonly number[]): { places: [number, number, number]; cost: number } {
  const order = [...frequencies.keys()].sort((a, b) => (frequencies[a] as number) - (frequencies[b] as number));
  const [first = 0, second = first, third = second] = order.slice(0, PLACES);
  const chance = (...places: number[]) => chanceOf([...new Set(places)].map((place) => frequencies[place] as number));
  const cost = STOP * Math.min(1 / STEP, chance(first, second)) + MISS * chance(first, second, third);
  return { places: [first, second, third], cost };
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

function frequencyAround({ mask, value }: Mask): number {
  return Math.min(
    1,
    FREQUENCIES.reduce((sum, frequency, byte) => ((byte & mask) === value ? sum + frequency : sum), 0),
  );
}

function maskTables(bytes: readonly number[]): Uint8Array {
  const { mask, value } = maskOf(bytes);
  return new Uint8Array(2 * STEP).fill(mask, 0, STEP).fill(value, STEP);
}

/** Upper halves with the same lower halves make up a group, which is a bit in both tables. The last group takes the rest. */
function halvesOf(bytes: readonly number[]): Uint8Array {
  const lowers = new Array<number>(STEP).fill(0);
  for (const byte of bytes) lowers[byte >> 4] = (lowers[byte >> 4] as number) | (1 << (byte & 15));
  const groups = [...new Set(lowers)].filter((lower) => lower !== 0);
  const tables = new Uint8Array(2 * STEP);
  for (const [upper, lower] of lowers.entries()) {
    if (lower === 0) continue;
    const bit = 1 << Math.min(GROUPS - 1, groups.indexOf(lower));
    tables[STEP + upper] = bit;
    for (let i = 0; i < STEP; i += 1) if (((lower >> i) & 1) === 1) tables[i] = (tables[i] as number) | bit;
  }
  return tables;
}
