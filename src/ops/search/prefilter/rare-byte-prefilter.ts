import { chanceOf, frequencyOf } from './byte-frequency.ts';
import type { ByteWindow } from './byte-window.ts';
import { needlePrefilter } from './needle-prefilter.ts';
import { type Finder, PATIENCE, type Plan, type Prefilter, VAIN } from './prefilter.ts';
import { WindowFit } from './window-fit.ts';

/** Nanoseconds: a byte in each search, and a stop to compare more; then what is scanned in the time of a stop. */
const SCAN = 0.07;
const STOP = 35;
const STOP_BYTES = 40;

/** Finds where bytes fit a window, by looking for the few bytes that belong at one of its places. */
export function planRareByte(window: ByteWindow): Plan {
  const frequencies = window.map(frequencyOf);
  const costs = window.map((bytes, place) => SCAN * bytes.length + STOP * (frequencies[place] as number));
  const least = Math.min(...costs);
  return { cost: least + VAIN * chanceOf(frequencies), build: () => rareBytePrefilter(window, costs.indexOf(least)) };
}

function rareBytePrefilter(window: ByteWindow, place: number): Prefilter {
  const fit = new WindowFit(window);
  const prefilter = needlePrefilter((window[place] ?? []).map((byte) => Buffer.of(byte)));
  return (region) => new RareByteFinder({ region, fit, place, bytes: prefilter(region) });
}

interface RareByteSearch {
  readonly region: Buffer;
  readonly fit: WindowFit;
  readonly place: number;
  readonly bytes: Finder;
}

class RareByteFinder implements Finder {
  spent = 0;
  readonly #search: RareByteSearch;

  constructor(search: RareByteSearch) {
    this.#search = search;
  }

  next(from: number): number {
    const { region, fit, place, bytes } = this.#search;
    for (let at = from + place; ; at += 1) {
      at = bytes.next(at);
      if (at === -1 || fit.at(region, at - place)) return at;
      this.spent += STOP_BYTES;
      // Whatever is here: it is for the caller to see what was spent.
      if (this.spent > PATIENCE + at) return at;
    }
  }
}
