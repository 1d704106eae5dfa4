import { chanceOf, FREQUENCIES, frequencyOf } from './byte-frequency.ts';
import type { ByteWindow } from './byte-window.ts';
import { type Finder, PATIENCE, type Plan, type Prefilter, VAIN } from './prefilter.ts';
import { WindowFit } from './window-fit.ts';

/** Nanoseconds: a jump, and a stop to compare more than one byte; then what is scanned in the time of each. */
const JUMP = 3;
const STOP = 4;
const JUMP_BYTES = 3;
const STOP_BYTES = 15;

/** After so many bytes the finder sees to what it has spent. */
const STRETCH = 4096;

/** Finds where bytes fit a window, by jumps as far as the byte at one of its places allows. */
export function planJumps(window: ByteWindow): Plan {
  const frequencies = window.map(frequencyOf);
  const costs = window.map((_, place) => {
    const mean = jumpsFrom(window, place).reduce((sum, jump, byte) => sum + jump * (FREQUENCIES[byte] as number), 0);
    return (JUMP + STOP * (frequencies[place] as number)) / mean;
  });
  const least = Math.min(...costs);
  return { cost: least + VAIN * chanceOf(frequencies), build: () => jumpPrefilter(window, costs.indexOf(least)) };
}

/** How far to jump from each byte at a place of the window: to where it belongs, or past it. */
function jumpsFrom(window: ByteWindow, place: number): number[] {
  const jumps = new Array<number>(256).fill(place + 1);
  for (let i = 0; i < place; i += 1) for (const byte of window[i] ?? []) jumps[byte] = place - i;
  return jumps;
}

function jumpPrefilter(window: ByteWindow, place: number): Prefilter {
  const onward = Uint8Array.from(jumpsFrom(window, place));
  const jumps = onward.slice();
  for (const byte of window[place] ?? []) jumps[byte] = 0;
  const fit = new WindowFit(window);
  return (region) => new JumpFinder({ region, fit, place, jumps, onward });
}

interface JumpSearch {
  readonly region: Buffer;
  readonly fit: WindowFit;
  /** The place of the window that is looked at. */
  readonly place: number;
  /** How far to jump from a byte there: 0 if it belongs there. */
  readonly jumps: Uint8Array;
  /** How far if it belongs there but the rest does not fit. */
  readonly onward: Uint8Array;
}

class JumpFinder implements Finder {
  spent = 0;
  readonly #search: JumpSearch;

  constructor(search: JumpSearch) {
    this.#search = search;
  }

  next(from: number): number {
    const { region, fit, place, jumps, onward } = this.#search;
    const end = region.length - fit.length + place + 1;
    for (let at = from + place; at < end; ) {
      const stretch = Math.min(end, at + STRETCH);
      let count = 0;
      let jump = 1;
      for (; at < stretch; at += jump) {
        jump = jumps[region[at] as number] as number;
        if (jump === 0) break;
        count += 1;
      }
      this.spent += JUMP_BYTES * count + STOP_BYTES;
      if (jump === 0) {
        if (fit.at(region, at - place)) return at;
        at += onward[region[at] as number] as number;
      }
      // Whatever is here: it is for the caller to see what was spent.
      if (at < end && this.spent > PATIENCE + at) return at;
    }
    return -1;
  }
}
