import { type Kernel, loadKernel } from '../runtime/wasm-kernel.ts';
import { NUMBER_WIDTH } from './numbered-lines.ts';

/** Bytes per vector. As many may be read and written in vain behind an end. */
const LANES = 16;
/** What a byte becomes at most: an LF, as `\n` and the next line's number with its tab, which are copied as one vector. */
const MOST_BYTES = 2 + LANES;
const FORM_BYTES = 8;

/** How long a text may be. A character takes up to three bytes. */
export const MAX_LENGTH = 32 * 1024;
export const MAX_BYTES = 3 * MAX_LENGTH;

/** What a text of so many bytes takes behind the tables: itself, and what becomes of it. */
const TEXT_SPACE = MAX_BYTES + LANES;
const TABLE_SPACE = 4096;

/** See assembly/index.ts. */
interface Functions {
  escape(from: number, to: number, into: number, numbered: 0 | 1): number;
}

type Addresses = 'FORMS_AT' | 'FORM_LENGTHS_AT' | 'NUMBER_START_AT' | 'NUMBER_AT' | 'NUMBER_END' | 'TEXT_AT';

/**
 * Turns UTF-8 into what stands between the quotes of a JSON string, as `JSON.stringify` would and several times as fast, and
 * numbers its lines at the same time if that is wanted. What it makes is overwritten by what it makes next.
 */
export class JsonEscaper {
  readonly #bytes: Buffer;
  readonly #escape: Functions['escape'];
  readonly #numberStart: number;
  readonly #number: number;
  readonly #numberEnd: number;
  readonly #text: number;
  readonly #made: number;
  #length = 0;

  private constructor({ memory, exports }: Kernel<Functions, Addresses>) {
    this.#bytes = Buffer.from(memory);
    this.#escape = exports.escape;
    this.#numberStart = exports.NUMBER_START_AT.value;
    this.#number = exports.NUMBER_AT.value;
    this.#numberEnd = exports.NUMBER_END.value;
    this.#text = exports.TEXT_AT.value;
    this.#made = this.#text + TEXT_SPACE;
    for (let byte = 0; byte < 256; byte += 1) {
      const form = byte < 0x80 ? Buffer.from(JSON.stringify(String.fromCharCode(byte)).slice(1, -1)) : [byte];
      this.#bytes.set(form, exports.FORMS_AT.value + byte * FORM_BYTES);
      this.#bytes[exports.FORM_LENGTHS_AT.value + byte] = form.length;
    }
    this.#bytes.write('\\t', this.#numberEnd);
  }

  /** Undefined where there is no such thing. */
  static start(): JsonEscaper | undefined {
    const bytes = TABLE_SPACE + TEXT_SPACE + MAX_BYTES * MOST_BYTES + LANES;
    const kernel = loadKernel<Functions, Addresses>(import.meta.url, bytes);
    return kernel && new JsonEscaper(kernel);
  }

  /** Takes the bytes to work on, `MAX_BYTES` at most. */
  put(bytes: Buffer): void {
    this.#length = bytes.length;
    this.#bytes.set(bytes, this.#text);
  }

  /** The same for a text of up to `MAX_LENGTH`. Tells whether it is all ASCII; if not, halves of characters are lost. */
  putText(text: string): boolean {
    this.#length = this.#bytes.write(text, this.#text);
    return this.#length === text.length;
  }

  /** The number of the line that the next bytes belong to. */
  set line(number: number) {
    const digits = String(number);
    this.#bytes.fill(' ', this.#number, this.#numberEnd).write(digits, this.#numberEnd - digits.length);
    this.#bytes.writeInt32LE(this.#numberEnd - Math.max(NUMBER_WIDTH, digits.length), this.#numberStart);
  }

  get line(): number {
    return Number(this.#bytes.toString('latin1', this.#number, this.#numberEnd));
  }

  /** The bytes as they are, escaped. */
  plain(): Buffer {
    return this.#make(this.#length, 0);
  }

  /** The same with a number before each line but the first; the last so many bytes are left out. */
  numbered(leftOut: number): Buffer {
    return this.#make(this.#length - leftOut, 1);
  }

  #make(length: number, numbered: 0 | 1): Buffer {
    const end = this.#escape(this.#text, this.#text + length, this.#made, numbered);
    return this.#bytes.subarray(this.#made, end);
  }
}

/** Made when first needed. One is enough: nobody else has a turn while it works. */
let only: JsonEscaper | 'none' | undefined;

export function jsonEscaper(): JsonEscaper | undefined {
  only ??= JsonEscaper.start() ?? 'none';
  return only === 'none' ? undefined : only;
}
