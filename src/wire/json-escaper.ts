import { type Kernel, loadKernel } from '../runtime/wasm-kernel.ts';

/** The width to which line numbers are padded with spaces. A longer number is not cut. */
export const LINE_NUMBER_WIDTH = 6;

/** Bytes per SIMD vector. The kernel loads and stores whole vectors, so it may touch this many bytes past an end. */
const VECTOR_BYTES = 16;
/**
 * The most bytes that one input byte becomes: a line feed is written as `\n`, then one vector with the next line's
 * number.
 */
const MAX_EXPANSION = 2 + VECTOR_BYTES;
/** Each byte's escape sequence occupies this much of the kernel's table. */
const ESCAPE_SLOT_BYTES = 8;

/** The longest text, in UTF-16 code units, that `loadText` accepts. Each takes up to three bytes in UTF-8. */
export const MAX_TEXT_LENGTH = 32 * 1024;
/** The most bytes that `loadBytes` accepts. */
const MAX_INPUT_BYTES = 3 * MAX_TEXT_LENGTH;

const INPUT_SPACE = MAX_INPUT_BYTES + VECTOR_BYTES;
const TABLE_SPACE = 4096;

/** Below this length `JSON.stringify` is faster than copying a text to WebAssembly memory and back. */
const MIN_KERNEL_LENGTH = 160;

/** The function that `assembly/index.ts` exports. */
interface Functions {
  escape(from: number, to: number, into: number, numbered: 0 | 1): number;
}

type Addresses = 'ESCAPES_AT' | 'ESCAPE_LENGTHS_AT' | 'NUMBER_START_AT' | 'NUMBER_AT' | 'NUMBER_END' | 'TEXT_AT';

/**
 * Escapes UTF-8 for use between the quotes of a JSON string, with the same result as `JSON.stringify` but several times
 * faster: a WebAssembly kernel handles 16 bytes per step with SIMD. It can number lines in the same pass.
 *
 * Load an input, then call `escape` or `escapeNumbered`. Both return a view of the kernel's memory that the next call
 * overwrites, so copy it first.
 */
export class JsonEscaper {
  readonly #memory: Buffer;
  readonly #escape: Functions['escape'];
  readonly #numberStart: number;
  readonly #number: number;
  readonly #numberEnd: number;
  readonly #input: number;
  readonly #output: number;
  #length = 0;

  private constructor({ memory, exports }: Kernel<Functions, Addresses>) {
    this.#memory = Buffer.from(memory);
    this.#escape = exports.escape;
    this.#numberStart = exports.NUMBER_START_AT.value;
    this.#number = exports.NUMBER_AT.value;
    this.#numberEnd = exports.NUMBER_END.value;
    this.#input = exports.TEXT_AT.value;
    this.#output = this.#input + INPUT_SPACE;
    for (let byte = 0; byte < 256; byte += 1) {
      const escaped = byte < 0x80 ? Buffer.from(stringifyEscape(String.fromCharCode(byte))) : [byte];
      this.#memory.set(escaped, exports.ESCAPES_AT.value + byte * ESCAPE_SLOT_BYTES);
      this.#memory[exports.ESCAPE_LENGTHS_AT.value + byte] = escaped.length;
    }
    this.#memory.write('\\t', this.#numberEnd);
  }

  /** Loads the kernel. Returns undefined where it cannot run, for example on a processor without SIMD. */
  static create(): JsonEscaper | undefined {
    const bytes = TABLE_SPACE + INPUT_SPACE + MAX_INPUT_BYTES * MAX_EXPANSION + VECTOR_BYTES;
    const kernel = loadKernel<Functions, Addresses>(import.meta.url, bytes);
    return kernel && new JsonEscaper(kernel);
  }

  /** Makes UTF-8 bytes the input, at most `MAX_INPUT_BYTES` of them. They need not end between characters. */
  loadBytes(bytes: Buffer): void {
    this.#length = bytes.length;
    this.#memory.set(bytes, this.#input);
  }

  /**
   * Makes a text of at most `MAX_TEXT_LENGTH` the input, and reports whether it is all ASCII. A lone surrogate becomes
   * U+FFFD, so a text that is not ASCII must be well-formed.
   */
  loadText(text: string): boolean {
    this.#length = this.#memory.write(text, this.#input);
    return this.#length === text.length;
  }

  /** The number of the line that the next input starts on. `escapeNumbered` increments it at each line feed. */
  set lineNumber(number: number) {
    const digits = String(number);
    this.#memory.fill(' ', this.#number, this.#numberEnd).write(digits, this.#numberEnd - digits.length);
    this.#memory.writeInt32LE(this.#numberEnd - Math.max(LINE_NUMBER_WIDTH, digits.length), this.#numberStart);
  }

  get lineNumber(): number {
    return Number(this.#memory.toString('latin1', this.#number, this.#numberEnd));
  }

  /** Returns the input, escaped. */
  escape(): Buffer {
    return this.#run(this.#length, 0);
  }

  /** Returns the input without its last `omitted` bytes, escaped, with the next line's number after each line feed. */
  escapeNumbered(omitted: number): Buffer {
    return this.#run(this.#length - omitted, 1);
  }

  #run(length: number, numbered: 0 | 1): Buffer {
    const end = this.#escape(this.#input, this.#input + length, this.#output, numbered);
    return this.#memory.subarray(this.#output, end);
  }
}

/** Loaded on first use. One instance suffices: every use of it is synchronous. */
let shared: JsonEscaper | 'unavailable' | undefined;

/** Returns this thread's escaper, or undefined where the kernel cannot run. */
export function jsonEscaper(): JsonEscaper | undefined {
  shared ??= JsonEscaper.create() ?? 'unavailable';
  return shared === 'unavailable' ? undefined : shared;
}

/** Escapes a text for use between the quotes of a JSON string, exactly as `JSON.stringify` does. Accepts any length. */
export function escapeJson(text: string): string {
  const escaper = text.length < MIN_KERNEL_LENGTH ? undefined : jsonEscaper();
  if (escaper === undefined) return stringifyEscape(text);
  let json = '';
  for (let from = 0; from < text.length; from += MAX_TEXT_LENGTH) {
    const part = text.slice(from, from + MAX_TEXT_LENGTH);
    // Decoding UTF-8 beyond ASCII back to a string costs more than the kernel saves.
    if (!escaper.loadText(part)) return stringifyEscape(text);
    json += escaper.escape().toString('latin1');
  }
  return json;
}

/**
 * Escapes valid UTF-8 for use between the quotes of a JSON string. Accepts any length and returns the result in chunks.
 */
export function escapeJsonChunks(utf8: Buffer): Buffer[] {
  const escaper = jsonEscaper();
  if (escaper === undefined) return [Buffer.from(stringifyEscape(utf8.toString()))];
  const chunks: Buffer[] = [];
  for (let from = 0; from < utf8.length; from += MAX_INPUT_BYTES) {
    escaper.loadBytes(utf8.subarray(from, from + MAX_INPUT_BYTES));
    chunks.push(Buffer.from(escaper.escape()));
  }
  return chunks;
}

function stringifyEscape(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
