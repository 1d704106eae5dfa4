import { frequencyOf } from './byte-frequency.ts';
import type { ByteWindow } from './byte-window.ts';
import { type Finder, type Prefilter, VAIN } from './prefilter.ts';

/** Nanoseconds: a jump, and a stop to compare more than one byte. */
const JUMP = 3;
const STOP = 4;
/** The same in bytes that could have been scanned instead. */
const STOP_BYTES = 6;
/** A stop is in vain anyway if there are few of them. */
const FREE_BYTES = 4096;

/** A place of the window, and how far to jump from each byte there if it does not belong there or the rest does not fit. */
interface Stand {
  readonly place: number;
  readonly jumps: Uint8Array;
  readonly cost: number;
}

/** Finds where bytes fit a window, jumping as far as the byte at one of its places allows. */
export class WindowPrefilter implements Prefilter {
  readonly cost: number;
  readonly length: number;
  readonly place: number;
  /** How far to jump from a byte at that place: 0 if it belongs there, in which case `onward` says how far if the rest does not fit. */
  readonly jumps: Uint8Array;
  readonly onward: Uint8Array;
  /** A bit for each place where a byte belongs. */
  readonly places = new Uint32Array(256);

  constructor(window: ByteWindow) {
    const { place, jumps, cost } = bestStand(window);
    this.length = window.length;
    this.place = place;
    this.onward = jumps;
    this.jumps = jumps.map((jump, byte) => (window[place]?.[byte] === 1 ? 0 : jump));
    this.cost = cost + chanceOf(window) * VAIN;
    for (const [i, bytes] of window.entries()) {
      for (const [byte, belongs] of bytes.entries()) this.places[byte] = (this.places[byte] as number) | (belongs << i);
    }
  }

  over(region: Buffer): Finder {
    return new WindowFinder(this, region);
  }
}

class WindowFinder implements Finder {
  readonly #filter: WindowPrefilter;
  readonly #region: Buffer;
  lost = 0;

  constructor(filter: WindowPrefilter, region: Buffer) {
    this.#filter = filter;
    this.#region = region;
  }

  next(from: number): number {
    const region = this.#region;
    const { jumps, onward, place, length } = this.#filter;
    const end = region.length - length + place + 1;
    for (let at = from + place; at < end; ) {
      const jump = jumps[region[at] as number] as number;
      if (jump > 0) {
        at += jump;
        continue;
      }
      if (this.#fits(at - place)) return at;
      this.lost += STOP_BYTES;
      // Whatever is there: the caller sees what was lost.
      if (this.lost > FREE_BYTES + at) return at;
      at += onward[region[at] as number] as number;
    }
    return -1;
  }

  #fits(start: number): boolean {
    const region = this.#region;
    const { places, length } = this.#filter;
    for (let i = 0; i < length; i += 1) {
      if ((((places[region[start + i] as number] as number) >>> i) & 1) === 0) return false;
    }
    return true;
  }
}

/** Where to look first. */
function bestStand(window: ByteWindow): Stand {
  const jumps = new Uint8Array(256).fill(1);
  let best: Stand = { place: 0, jumps, cost: Number.POSITIVE_INFINITY };
  for (const [place, bytes] of window.entries()) {
    let mean = 0;
    for (let byte = 0; byte < 256; byte += 1) {
      if (place > 0) jumps[byte] = window[place - 1]?.[byte] === 1 ? 1 : (jumps[byte] as number) + 1;
      mean += frequencyOf(byte) * (jumps[byte] as number);
    }
    const cost = (JUMP + STOP * frequencyOfAny(bytes)) / mean;
    if (cost < best.cost) best = { place, jumps: jumps.slice(), cost };
  }
  return best;
}

function chanceOf(window: ByteWindow): number {
  // Bytes that belong together come together, so the true chance is larger than the product.
  return window.reduce((chance, bytes) => chance * Math.min(1, frequencyOfAny(bytes)) ** 0.8, 1);
}

function frequencyOfAny(bytes: Uint8Array): number {
  return bytes.reduce((sum, belongs, byte) => sum + belongs * frequencyOf(byte), 0);
}
