import { lineEnd } from './line-bounds.ts';
import type { LineMatcher } from './line-matcher.ts';

const LF = 0x0a;

/** Decodes every line and tries the pattern on it: slow, but within bounds for any pattern. */
export class LineByLine implements LineMatcher {
  readonly #test: (text: string) => boolean;

  constructor(test: (text: string) => boolean) {
    this.#test = test;
  }

  next(bytes: Buffer, from: number, to: number): number {
    for (let start = from; start < to; ) {
      const next = lineEnd(bytes, start, to);
      if (this.#test(bytes.toString('utf8', start, bytes[next - 1] === LF ? next - 1 : next))) return start;
      start = next;
    }
    return -1;
  }
}
