import * as wasm from '../ops/wasm/assembler.ts';
import { type Instance, instantiate } from '../ops/wasm/instantiate.ts';
import { NUMBER_WIDTH } from './numbered-lines.ts';

/** How many bytes are taken at once. As many may be read and written in vain behind an end. */
const STEP = 16;
const LF = 0x0a;
/** What a byte becomes at most: an LF, as `\n` and the next line's number with its tab, which are copied as one step. */
const MOST_BYTES = 2 + STEP;

/** How long a text may be. A character takes up to three bytes. */
export const MAX_LENGTH = 32 * 1024;
export const MAX_BYTES = 3 * MAX_LENGTH;

/** What is where: each byte's escaped form, the length of each, the number of a line, the text, and what becomes of it. */
const FORMS = 0;
const FORM_BYTES = 8;
const LENGTHS = FORMS + 256 * FORM_BYTES;
const NUMBER_START = LENGTHS + 256;
const NUMBER = NUMBER_START + 16;
const PREFIX_END = NUMBER + STEP;
/** A number is followed by a tab. */
const NUMBER_END = PREFIX_END - 2;
const TEXT = PREFIX_END + STEP;
const MADE = TEXT + MAX_BYTES + STEP;
const END = MADE + MAX_BYTES * MOST_BYTES + STEP;

/** See `escapeFunction`. */
interface Functions {
  escape(from: number, to: number, into: number, numbered: 0 | 1): number;
}

/**
 * Turns UTF-8 into what stands between the quotes of a JSON string, as `JSON.stringify` would and several times as fast, and
 * numbers its lines at the same time if that is wanted. What it makes is overwritten by what it makes next.
 */
export class JsonEscaper {
  readonly #bytes: Buffer;
  readonly #escape: Functions['escape'];
  #length = 0;

  private constructor({ memory, functions }: Instance<Functions>) {
    this.#bytes = Buffer.from(memory);
    this.#escape = functions.escape;
    for (let byte = 0; byte < 256; byte += 1) {
      const form = byte < 0x80 ? Buffer.from(JSON.stringify(String.fromCharCode(byte)).slice(1, -1)) : [byte];
      this.#bytes.set(form, FORMS + byte * FORM_BYTES);
      this.#bytes[LENGTHS + byte] = form.length;
    }
    this.#bytes.write('\\t', NUMBER_END);
  }

  /** Undefined where there is no such thing. */
  static start(): JsonEscaper | undefined {
    const started = instantiate<Functions>([escapeFunction()], END);
    return started && new JsonEscaper(started);
  }

  /** Takes the bytes to work on, `MAX_BYTES` at most. */
  put(bytes: Buffer): void {
    this.#length = bytes.length;
    this.#bytes.set(bytes, TEXT);
  }

  /** The same for a text of up to `MAX_LENGTH`. Tells whether it is all ASCII; if not, halves of characters are lost. */
  putText(text: string): boolean {
    this.#length = this.#bytes.write(text, TEXT);
    return this.#length === text.length;
  }

  /** The number of the line that the next bytes belong to. */
  set line(number: number) {
    const digits = String(number);
    this.#bytes.fill(' ', NUMBER, NUMBER_END).write(digits, NUMBER_END - digits.length);
    this.#bytes.writeInt32LE(NUMBER_END - Math.max(NUMBER_WIDTH, digits.length), NUMBER_START);
  }

  get line(): number {
    return Number(this.#bytes.toString('latin1', NUMBER, NUMBER_END));
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
    return this.#bytes.subarray(MADE, this.#escape(TEXT, TEXT + length, MADE, numbered));
  }
}

/**
 * `escape(from, to, into, numbered)`: writes what the bytes between two addresses become, and returns where that ends.
 * Sixteen at once are copied, of which those count that come before the first to be escaped.
 */
function escapeFunction(): wasm.Func {
  const [from, to, into, numbered, odd, start, at, bytes, quote, backslash, space] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
  const { get, set, tee, number } = wasm;
  const forward = (local: number, by: wasm.Code): wasm.Code => set(local, wasm.add(get(local), by));
  const isOdd = wasm.orBytes(
    wasm.orBytes(wasm.bytesEqual(get(bytes), get(quote)), wasm.bytesEqual(get(bytes), get(backslash))),
    wasm.bytesBelow(get(bytes), get(space)),
  );
  const atEnd = wasm.isZero(wasm.isLess(get(from), get(to)));
  const copyPlain = [
    wasm.storeBytes(get(into), tee(bytes, wasm.loadBytes(get(from)))),
    wasm.when(
      wasm.isZero(tee(odd, wasm.highBits(isOdd))),
      forward(from, number(STEP)),
      forward(into, number(STEP)),
      wasm.leave(1),
    ),
    forward(from, tee(odd, wasm.lowestBit(get(odd)))),
    forward(into, get(odd)),
  ];
  const copyForm = [
    set(odd, wasm.loadByte(get(from))),
    forward(from, number(1)),
    wasm.storeEight(get(into), wasm.loadEight(wasm.shiftLeft(get(odd), number(Math.log2(FORM_BYTES))), FORMS)),
    forward(into, wasm.loadByte(get(odd), LENGTHS)),
  ];
  const nextNumber = [
    set(at, number(NUMBER_END - 1)),
    wasm.loop(
      wasm.when(
        wasm.isEqual(wasm.loadByte(get(at)), number(0x39)),
        wasm.storeByte(get(at), number(0x30)),
        forward(at, number(-1)),
        wasm.leave(1),
      ),
    ),
    // A space becomes a 1 as a 0 does: they differ in one bit.
    wasm.storeByte(get(at), wasm.add(wasm.or(wasm.loadByte(get(at)), number(0x10)), number(1))),
    wasm.when(wasm.isLess(get(at), get(start)), set(start, get(at))),
    wasm.storeBytes(get(into), wasm.loadBytes(get(start))),
    forward(into, wasm.subtract(number(PREFIX_END), get(start))),
  ];
  const code = [
    set(start, wasm.loadNumber(number(NUMBER_START))),
    set(quote, wasm.everyByte(number(0x22))),
    set(backslash, wasm.everyByte(number(0x5c))),
    set(space, wasm.everyByte(number(0x20))),
    wasm.block(
      wasm.loop(
        wasm.leaveIf(atEnd, 1),
        ...copyPlain,
        wasm.leaveIf(atEnd, 1),
        ...copyForm,
        wasm.when(wasm.and(wasm.isEqual(get(odd), number(LF)), get(numbered)), ...nextNumber),
        wasm.leave(0),
      ),
    ),
    wasm.storeNumber(number(NUMBER_START), get(start)),
    // What lies behind the end was copied too.
    wasm.subtract(get(into), wasm.subtract(get(from), get(to))),
  ].flat();
  const locals = [wasm.I32, wasm.I32, wasm.I32, ...Array<number>(4).fill(wasm.V128)];
  return { name: 'escape', parameters: 4, locals, code };
}

/** Made when first needed. One is enough: nobody else has a turn while it works. */
let only: JsonEscaper | 'none' | undefined;

export function jsonEscaper(): JsonEscaper | undefined {
  only ??= JsonEscaper.start() ?? 'none';
  return only === 'none' ? undefined : only;
}
