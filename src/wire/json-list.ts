import { escapeJsonChunks } from './json-string.ts';
import { MAX_SENT_BYTES } from './result-size.ts';

/** So many items of a list make a piece: some kilobytes, which are soon made, copied and forgotten. */
export const ITEMS = 128;
/** So many characters do too. Escaped twice, they take no more than there is room for beside a list. */
const CHARACTERS = 32 * 1024;

/**
 * A list of a result, in JSON. Its items are written down when they are found: to keep many of them as objects until all are
 * there takes longer than to write them.
 */
export class JsonList<T> {
  /** All but the last items, in pieces: as JSON, and as they stand between the quotes of a JSON string. */
  readonly json: Buffer[] = [];
  readonly escaped: Buffer[] = [];
  #rest: string[] = [];
  #characters = 0;
  #length = 0;
  #bytes = 0;
  #isFull = false;

  add(item: T): void {
    this.addJson(JSON.stringify(item));
  }

  /** Adds an item in JSON. Once there is more than one result can carry, the rest is left out. */
  addJson(json: string): void {
    if (this.#isFull) return;
    this.#rest.push(json);
    this.#length += 1;
    this.#characters += json.length;
    if (this.#rest.length === ITEMS || this.#characters > CHARACTERS) this.#write();
  }

  /** How many items it has. */
  get length(): number {
    return this.#length;
  }

  /** The last items, as JSON. */
  get rest(): string {
    const before = this.json.length > 0 && this.#rest.length > 0 ? ',' : '';
    return before + this.#rest.join(',');
  }

  /** For whoever needs the items again. */
  toJSON(): T[] {
    return JSON.parse(`[${Buffer.concat(this.json)}${this.rest}]`);
  }

  #write(): void {
    const json = Buffer.from(this.rest);
    const escaped = escapeJsonChunks(json);
    for (const { length } of [json, ...escaped]) this.#bytes += length;
    this.#isFull = this.#bytes > MAX_SENT_BYTES;
    if (this.#isFull) {
      this.#length -= this.#rest.length;
    } else {
      this.json.push(json);
      this.escaped.push(...escaped);
    }
    this.#rest = [];
    this.#characters = 0;
  }
}
