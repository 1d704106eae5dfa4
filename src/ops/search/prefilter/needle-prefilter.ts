import { chanceOf, FREQUENCIES } from './byte-frequency.ts';
import { Needle } from './needle.ts';
import { type Finder, type Plan, type Prefilter, VAIN } from './prefilter.ts';

/** Finds where at least one of some strings of bytes is. */
export function planNeedles(bytes: readonly Buffer[]): Plan {
  const needles = bytes.map((needle) => new Needle(needle));
  let cost = 0;
  for (const needle of needles) cost += needle.cost;
  for (const needle of bytes) cost += VAIN * chanceOf(Array.from(needle, (byte) => FREQUENCIES[byte] as number));
  return { cost, build: () => (region) => new NeedleFinder(needles, region) };
}

/** The same where there is no choice. */
export function needlePrefilter(bytes: readonly Buffer[]): Prefilter {
  return planNeedles(bytes).build();
}

class NeedleFinder implements Finder {
  /** Hardly worth counting. */
  readonly spent = 0;
  readonly #region: Buffer;
  readonly #needles: readonly Needle[];
  /** Where each needle is next, -1 for nowhere. */
  readonly #places: number[];

  constructor(needles: readonly Needle[], region: Buffer) {
    this.#needles = needles;
    this.#region = region;
    this.#places = needles.map(() => Number.NEGATIVE_INFINITY);
  }

  next(from: number): number {
    let nearest = -1;
    for (let i = 0; i < this.#needles.length; i += 1) {
      let place = this.#places[i] as number;
      if (place !== -1 && place < from) {
        place = (this.#needles[i] as Needle).indexIn(this.#region, from);
        this.#places[i] = place;
      }
      if (place !== -1 && (nearest === -1 || place < nearest)) nearest = place;
    }
    return nearest;
  }
}
