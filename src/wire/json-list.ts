import { escapeJsonChunks } from './json-escaper.ts';
import { MAX_SENT_BYTES } from './result-size.ts';

/** How many items of a list are serialized as one chunk: a few kilobytes, so that intermediate strings live briefly. */
export const ITEMS_PER_CHUNK = 128;
/**
 * The length of pending JSON from which fewer items make a chunk. Pending items do not count towards `MAX_SENT_BYTES`;
 * up to this length they fit, plain and escaped, into the space that it leaves free.
 */
const MAX_CHUNK_LENGTH = 32 * 1024;

/**
 * A list in a tool's result that is serialized while it grows. Keeping a long list as objects until it is complete
 * takes longer than serializing each item as it is found.
 *
 * A list stops growing once a result cannot carry more (`MAX_SENT_BYTES`): later items are dropped, which `length`
 * shows.
 */
export class JsonList<T> {
  /** The JSON of all items but the pending ones, in chunks without the brackets. */
  readonly json: Buffer[] = [];
  /** The content of `json`, escaped for use between the quotes of a JSON string. */
  readonly escaped: Buffer[] = [];
  #pending: string[] = [];
  #pendingLength = 0;
  #length = 0;
  #bytes = 0;
  #isFull = false;
  #charsLeft: number;

  /**
   * Makes an empty list that also stops growing before its JSON has more than `maxChars` characters, except for one
   * long item.
   */
  constructor(maxChars: number = Number.POSITIVE_INFINITY) {
    this.#charsLeft = maxChars;
  }

  /** Appends an item, unless the list is full, and reports whether it did. */
  add(item: T): boolean {
    return this.addJson(JSON.stringify(item));
  }

  /**
   * Appends an item that is already JSON, unless the list is full, and reports whether it did. An item may still be
   * dropped later, with others, if the result as a whole turns out to be too long for the transport: `length` is right
   * once all are added.
   */
  addJson(json: string): boolean {
    if (this.#isFull) return false;
    this.#charsLeft -= json.length + 1;
    if (this.#charsLeft < 0 && this.#length > 0) {
      this.#isFull = true;
      return false;
    }
    this.#pending.push(json);
    this.#length += 1;
    this.#pendingLength += json.length;
    if (this.#pending.length === ITEMS_PER_CHUNK || this.#pendingLength > MAX_CHUNK_LENGTH) this.#flush();
    return true;
  }

  /** The number of items, without those that were dropped. */
  get length(): number {
    return this.#length;
  }

  /** The JSON that follows `json`: the items that do not fill a chunk yet, after a comma if needed. */
  get pendingJson(): string {
    const comma = this.json.length > 0 && this.#pending.length > 0 ? ',' : '';
    return comma + this.#pending.join(',');
  }

  /** Returns the items, parsed back from JSON. `JSON.stringify` calls this. */
  toJSON(): T[] {
    return JSON.parse(`[${Buffer.concat(this.json)}${this.pendingJson}]`);
  }

  #flush(): void {
    const json = Buffer.from(this.pendingJson);
    const escaped = escapeJsonChunks(json);
    for (const { length } of [json, ...escaped]) this.#bytes += length;
    this.#isFull = this.#bytes > MAX_SENT_BYTES;
    if (this.#isFull) {
      this.#length -= this.#pending.length;
    } else {
      this.json.push(json);
      this.escaped.push(...escaped);
    }
    this.#pending = [];
    this.#pendingLength = 0;
  }
}
