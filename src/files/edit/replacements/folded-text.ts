import type { BinaryString } from '../text/binary-string.ts';
import { lowerBound } from '../text/lower-bound.ts';

/** A part of a text that is replaced. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/**
 * A text in which each CRLF is folded to LF, so that searches do not depend on line endings. It remembers where those
 * were.
 */
export class FoldedText {
  readonly text: BinaryString;
  /** The positions in `text` of the line breaks that were CRLF, ascending. */
  readonly #crlf: readonly number[];
  /** How many line breaks the text has; counted only if some were CRLF. */
  readonly #breaks: number;
  /**
   * The line breaks of the text; if it has none, those of the text that it was made from. Undefined if that had none
   * either.
   */
  readonly #endings: 'crlf' | 'lf' | undefined;

  private constructor(text: BinaryString, crlf: readonly number[], inherited?: 'crlf' | 'lf') {
    this.text = text;
    this.#crlf = crlf;
    this.#breaks = crlf.length === 0 ? 0 : positionsOf(text, '\n').length;
    if (crlf.length > 0) this.#endings = 'crlf';
    else this.#endings = text.includes('\n') ? 'lf' : inherited;
  }

  /** Folds a text. */
  static fold(raw: BinaryString): FoldedText {
    // The k-th CRLF loses k bytes before its LF: those of the ones above it, and its own.
    const crlf = positionsOf(raw, '\r\n').map((at, index) => at - index);
    return new FoldedText(crlf.length === 0 ? raw : raw.replaceAll('\r\n', '\n'), crlf);
  }

  /** Returns the text with its line endings as they were. */
  unfold(): BinaryString {
    if (this.#crlf.length === 0) return this.text;
    const pieces: BinaryString[] = [];
    let from = 0;
    for (const at of this.#crlf) {
      pieces.push(this.text.slice(from, at), '\r');
      from = at;
    }
    pieces.push(this.text.slice(from));
    return pieces.join('');
  }

  /** Returns a part of the text. */
  slice(start: number, end: number): FoldedText {
    const crlf = this.#crlf.filter((at) => at >= start && at < end).map((at) => at - start);
    return new FoldedText(this.text.slice(start, end), crlf);
  }

  /** Returns the position in the unfolded text of a position in this one. */
  unfoldedOffset(at: number): number {
    return at + lowerBound(this.#crlf, at);
  }

  /**
   * Replaces ranges, which must be in order and not overlap, by the same text. Its line breaks become those of the
   * lines around each range; in a text without line breaks they stay as they are.
   */
  replace(ranges: readonly TextRange[], put: FoldedText): FoldedText {
    const breaks = positionsOf(put.text, '\n');
    const pieces: BinaryString[] = [];
    const crlf: number[] = [];
    let from = 0;
    let length = 0;
    let kept = 0;
    const keep = (to: number): void => {
      pieces.push(this.text.slice(from, to));
      for (; (this.#crlf[kept] ?? to) < to; kept++) crlf.push((this.#crlf[kept] ?? 0) - from + length);
      length += to - from;
    };
    for (const { start, end } of ranges) {
      keep(start);
      pieces.push(put.text);
      for (const at of this.#crlfOf(put, breaks, start)) crlf.push(length + at);
      length += put.text.length;
      while ((this.#crlf[kept] ?? end) < end) kept++;
      from = end;
    }
    keep(this.text.length);
    return new FoldedText(pieces.join(''), crlf, this.#endings);
  }

  /** Returns which line breaks of a new text become CRLF at a position of this one. */
  #crlfOf(put: FoldedText, breaks: readonly number[], position: number): readonly number[] {
    if (breaks.length === 0) return [];
    if (this.#endings === undefined) return put.#crlf;
    if (this.#endings === 'lf') return [];
    if (this.#crlf.length === this.#breaks) return breaks;
    const next = this.text.indexOf('\n', position);
    const near = next === -1 ? this.text.lastIndexOf('\n') : next;
    return this.#crlf[lowerBound(this.#crlf, near)] === near ? breaks : [];
  }
}

function positionsOf(text: BinaryString, wanted: string): number[] {
  const positions: number[] = [];
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) positions.push(at);
  return positions;
}
