import type { ByteWindow } from './byte-window.ts';

/** Compares bytes with a window. */
export class WindowFit {
  readonly length: number;
  /** For each byte, a bit for each place where it belongs. */
  readonly #places = new Uint32Array(256);

  constructor(window: ByteWindow) {
    this.length = window.length;
    for (const [i, bytes] of window.entries()) {
      for (const byte of bytes) this.#places[byte] = (this.#places[byte] as number) | (1 << i);
    }
  }

  /** Do the bytes from `start` on fit? */
  at(region: Buffer, start: number): boolean {
    if (start + this.length > region.length) return false;
    const places = this.#places;
    for (let i = 0; i < this.length; i += 1) {
      if ((((places[region[start + i] as number] as number) >>> i) & 1) === 0) return false;
    }
    return true;
  }
}
