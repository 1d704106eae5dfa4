/**
 * A list of a result as text, for clients that show the model text alone. Takes items until `maxChars` is reached, as
 * `lengthOf` counts them, and leaves the rest out, so an item is there whole or not at all.
 */
export class TextList {
  readonly #maxChars: number;
  readonly #lengthOf: (text: string) => number;
  readonly #parts: string[] = [];
  #chars = 0;
  #length = 0;
  #isFull = false;

  constructor(maxChars: number = Number.POSITIVE_INFINITY, lengthOf = (text: string): number => text.length) {
    this.#maxChars = maxChars;
    this.#lengthOf = lengthOf;
  }

  /** Adds an item, with its line ends, and reports whether it fit. After one that did not, the list takes no more. */
  add(text: string): boolean {
    const chars = this.#lengthOf(text);
    if (this.#isFull || (this.#length > 0 && this.#chars + chars > this.#maxChars)) {
      this.#isFull = true;
      return false;
    }
    this.#parts.push(text);
    this.#chars += chars;
    this.#length += 1;
    return true;
  }

  /** How many items it has. */
  get length(): number {
    return this.#length;
  }

  get text(): string {
    return this.#parts.join('');
  }
}

/** Returns the text of a list that was made as a `TextList`. */
export function textOf(list: unknown): string {
  if (!(list instanceof TextList)) throw new Error('the list is not text');
  return list.text;
}
