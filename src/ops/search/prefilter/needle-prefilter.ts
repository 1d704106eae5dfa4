import { frequencyOf } from './byte-frequency.ts';
import { type Finder, type Prefilter, VAIN } from './prefilter.ts';

/** Nanoseconds: for each byte, for each place where the first byte is but not the rest, and if there is no rest. */
const SCAN = 0.07;
const STOP = 7;
const STOP_ALONE = 35;

/** Finds where at least one of some strings of bytes is. */
export class NeedlePrefilter implements Prefilter {
  readonly cost: number;
  readonly #needles: readonly Needle[];

  constructor(needles: readonly Buffer[]) {
    this.#needles = needles.map((needle) => new Needle(needle));
    this.cost = this.#needles.reduce((sum, { cost }) => sum + cost, 0);
  }

  over(region: Buffer): Finder {
    return new NeedleFinder(this.#needles, region);
  }
}

class NeedleFinder implements Finder {
  readonly lost = 0;
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

/** Looked for by its rarest byte and what follows: the search for bytes stops at every place where the first one is. */
class Needle {
  readonly cost: number;
  readonly #head: Buffer;
  readonly #tail: Buffer | number;

  constructor(bytes: Buffer) {
    const stops = Array.from(bytes, (byte, i) => frequencyOf(byte) * (i === bytes.length - 1 ? STOP_ALONE : STOP));
    const least = Math.min(...stops);
    const rarest = stops.indexOf(least);
    const chance = bytes.reduce((product, byte) => product * frequencyOf(byte) ** 0.8, 1);
    this.cost = SCAN + least + VAIN * chance;
    this.#head = bytes.subarray(0, rarest);
    this.#tail = rarest === bytes.length - 1 ? (bytes[rarest] as number) : bytes.subarray(rarest);
  }

  indexIn(region: Buffer, from: number): number {
    const head = this.#head;
    for (let at = from + head.length; ; at += 1) {
      at = region.indexOf(this.#tail, at);
      if (at === -1) return -1;
      let i = 1;
      while (i <= head.length && region[at - i] === head[head.length - i]) i += 1;
      if (i > head.length) return at;
    }
  }
}
