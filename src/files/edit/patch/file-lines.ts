import type { BinaryString } from './binary-string.ts';
import type { PatchLine } from './parse-patch.ts';

const LF = 10;
const CR = 13;

/** The lines of a file, by index from 0. Lines end at LF; the last one may have no ending. */
export class FileLines {
  readonly count: number;
  readonly #text: BinaryString;
  readonly #starts: number[] = [];

  constructor(text: BinaryString) {
    this.#text = text;
    for (let start = 0; start < text.length; ) {
      this.#starts.push(start);
      const newline = text.indexOf('\n', start);
      start = newline === -1 ? text.length : newline + 1;
    }
    this.count = this.#starts.length;
  }

  /** The bytes of the lines from `from` up to, not including, `to`, endings included. */
  slice(from: number, to: number): BinaryString {
    return this.#text.slice(this.#start(from), this.#start(to));
  }

  /** A line without its ending. */
  bare(index: number): BinaryString {
    return this.#text.slice(this.#start(index), this.#bareEnd(index));
  }

  isTerminated(index: number): boolean {
    return this.#text.charCodeAt(this.#start(index + 1) - 1) === LF;
  }

  hasCarriageReturn(index: number): boolean {
    const end = this.#start(index + 1) - (this.isTerminated(index) ? 1 : 0);
    return end > this.#start(index) && this.#text.charCodeAt(end - 1) === CR;
  }

  /**
   * Whether a line of the old side of a patch is this line, line endings aside. A missing newline at the end of the file
   * is forgiven to a patch that does not mention it; a patch that does mention it is taken at its word.
   */
  matches(index: number, line: PatchLine): boolean {
    if (index < 0 || index >= this.count) return false;
    if (!line.newline && this.isTerminated(index)) return false;
    return this.hasText(index, line.bare);
  }

  /** Whether a line, without its ending, is `bare`. */
  hasText(index: number, bare: BinaryString): boolean {
    const start = this.#start(index);
    return this.#bareEnd(index) - start === bare.length && this.#text.startsWith(bare, start);
  }

  /** The line ending in use just before line `index`, or at the top of the file just after. */
  endingNear(index: number): BinaryString {
    let neighbour = Math.max(index - 1, 0);
    if (neighbour < this.count && !this.isTerminated(neighbour)) neighbour--;
    if (neighbour < 0 || neighbour >= this.count) return '\n';
    return this.hasCarriageReturn(neighbour) ? '\r\n' : '\n';
  }

  /** Where lines occur whose hash is in `wanted`: ascending indexes by hash. */
  occurrences(wanted: ReadonlySet<number>): Map<number, number[]> {
    const found = new Map<number, number[]>();
    for (let index = 0; index < this.count; index++) {
      const hash = hashOf(this.#text, this.#start(index), this.#bareEnd(index));
      if (!wanted.has(hash)) continue;
      const list = found.get(hash);
      if (list === undefined) found.set(hash, [index]);
      else list.push(index);
    }
    return found;
  }

  #start(index: number): number {
    return this.#starts[index] ?? this.#text.length;
  }

  #bareEnd(index: number): number {
    let end = this.#start(index + 1);
    if (this.isTerminated(index)) end--;
    if (this.hasCarriageReturn(index)) end--;
    return end;
  }
}

/** FNV-1a over a stretch of bytes. Equal text has equal hashes; the reverse is for the caller to check. */
export function hashOf(text: BinaryString, start = 0, end = text.length): number {
  let hash = 0x811c9dc5;
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash;
}
