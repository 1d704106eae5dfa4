import type { BinaryString } from '../text/binary-string.ts';
import type { PatchLine } from './parse-patch.ts';

const LF = 10;
const CR = 13;

/** The lines of a file, indexed from 0. Lines end at LF or CRLF; the last one may have no ending. */
export class FileLines {
  /** The number of lines; an unterminated last line counts. */
  readonly count: number;
  readonly #text: BinaryString;
  readonly #starts: number[] = [];

  /** Splits a file into lines. */
  constructor(text: BinaryString) {
    this.#text = text;
    for (let start = 0; start < text.length; ) {
      this.#starts.push(start);
      const newline = text.indexOf('\n', start);
      start = newline === -1 ? text.length : newline + 1;
    }
    this.count = this.#starts.length;
  }

  /** Returns the lines from `from` up to, but not including, `to`, with their endings. */
  slice(from: number, to: number): BinaryString {
    return this.#text.slice(this.#start(from), this.#start(to));
  }

  /** Returns where a line begins in the text. */
  offset(index: number): number {
    return this.#start(index);
  }

  /** Returns a line without its ending. */
  bare(index: number): BinaryString {
    return this.#text.slice(this.#start(index), this.#bareEnd(index));
  }

  /** Reports whether a line ends with LF or CRLF. */
  isTerminated(index: number): boolean {
    return this.#text.charCodeAt(this.#start(index + 1) - 1) === LF;
  }

  /** Reports whether a line has a CR at its end, before the LF if there is one. */
  hasCarriageReturn(index: number): boolean {
    const end = this.#start(index + 1) - (this.isTerminated(index) ? 1 : 0);
    return end > this.#start(index) && this.#text.charCodeAt(end - 1) === CR;
  }

  /**
   * Reports whether a line of the file equals an old line of a patch, apart from the kind of line ending. An
   * unterminated last line also matches a patch line with a newline unless `exactEnd` is set, but a patch line marked
   * "No newline at end of file" matches only an unterminated line.
   */
  matches(index: number, line: PatchLine, exactEnd: boolean): boolean {
    if (index < 0 || index >= this.count) return false;
    const isTerminated = this.isTerminated(index);
    if (exactEnd ? line.newline !== isTerminated : !line.newline && isTerminated) return false;
    return this.hasText(index, line.bare);
  }

  /** Reports whether a line, without its ending, equals `bare`. */
  hasText(index: number, bare: BinaryString): boolean {
    const start = this.#start(index);
    return this.#bareEnd(index) - start === bare.length && this.#text.startsWith(bare, start);
  }

  /**
   * Returns the line ending of the line before `index`, or of the first line at the top of the file. LF if there is
   * none.
   */
  endingNear(index: number): BinaryString {
    let neighbour = Math.max(index - 1, 0);
    if (neighbour < this.count && !this.isTerminated(neighbour)) neighbour--;
    if (neighbour < 0 || neighbour >= this.count) return '\n';
    return this.hasCarriageReturn(neighbour) ? '\r\n' : '\n';
  }

  /** Maps each of the wanted hashes to the ascending indexes of the lines that have it. */
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

/**
 * Computes the 32-bit FNV-1a hash of part of a text (https://datatracker.ietf.org/doc/draft-eastlake-fnv). Different
 * texts may collide, so the caller must compare them.
 */
export function hashOf(text: BinaryString, start = 0, end = text.length): number {
  let hash = 0x811c9dc5;
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash;
}
