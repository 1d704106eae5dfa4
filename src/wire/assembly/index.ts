// The JSON escaping kernel, in AssemblyScript with WebAssembly SIMD. `scripts/build.js` compiles it to WebAssembly.
// The bytes that JSON escapes: https://www.rfc-editor.org/rfc/rfc8259#section-7

/** Bytes per SIMD vector. Only whole vectors are loaded and stored, so this many bytes past an end may be touched. */
const VECTOR_BYTES: usize = 16;
const LF: u8 = 0x0a;
const QUOTE: i8 = 0x22;
const BACKSLASH: i8 = 0x5c;
const SPACE: i8 = 0x20;
const DIGIT_0: u8 = 0x30;
const DIGIT_9: u8 = 0x39;

/** The escape sequence of each byte value, in slots of eight bytes. A byte that needs no escape stands for itself. */
export const ESCAPES_AT: usize = 0;
/** The length of each escape sequence, one byte per byte value. */
export const ESCAPE_LENGTHS_AT: usize = 256 * 8;
/** Holds the address at which the current line number begins, padding included. */
export const NUMBER_START_AT: usize = ESCAPE_LENGTHS_AT + 256;
/** The current line number, right-aligned and padded with spaces, then an escaped tab: one vector together. */
export const NUMBER_AT: usize = NUMBER_START_AT + 16;
export const NUMBER_END: usize = NUMBER_AT + VECTOR_BYTES - 2;
const PREFIX_END: usize = NUMBER_AT + VECTOR_BYTES;
/** The first byte that the host may use. A vector load of a line number reaches past its tab, up to here. */
export const TEXT_AT: usize = PREFIX_END + VECTOR_BYTES;

/**
 * Escapes the bytes in `[from, to)` for use between the quotes of a JSON string, writes them to `into`, and returns the
 * end of the output. With `numbered`, the number of the next line and a tab follow each line feed.
 *
 * Each step copies a whole vector and compares it with the bytes to escape. The number of trailing zeros in the
 * comparison's bit mask is the number of leading bytes that are final; the next step overwrites the rest. The simdjson
 * paper describes this loop for the opposite direction, the parsing of strings: https://arxiv.org/abs/1902.08318
 */
export function escape(from: usize, to: usize, into: usize, numbered: bool): usize {
  const quotes = i8x16.splat(QUOTE);
  const backslashes = i8x16.splat(BACKSLASH);
  const spaces = i8x16.splat(SPACE);
  let numberStart = load<usize>(NUMBER_START_AT);
  while (from < to) {
    const bytes = v128.load(from);
    v128.store(into, bytes);
    const special = v128.or(
      v128.or(i8x16.eq(bytes, quotes), i8x16.eq(bytes, backslashes)),
      i8x16.lt_u(bytes, spaces),
    );
    const escapes = i8x16.bitmask(special);
    if (escapes == 0) {
      // A branch of its own, so that the processor need not wait for the comparison to know where the next vector
      // begins.
      from += VECTOR_BYTES;
      into += VECTOR_BYTES;
      continue;
    }
    const plain: usize = ctz(escapes);
    from += plain;
    into += plain;
    if (from >= to) break;
    const byte = load<u8>(from);
    from += 1;
    store<u64>(into, load<u64>((<usize>byte) << 3, ESCAPES_AT));
    into += load<u8>(byte, ESCAPE_LENGTHS_AT);
    if (!numbered || byte != LF) continue;
    const first = incrementNumber();
    if (first < numberStart) numberStart = first;
    v128.store(into, v128.load(numberStart));
    into += PREFIX_END - numberStart;
  }
  store<usize>(NUMBER_START_AT, numberStart);
  // The last vector may have advanced both pointers past the end.
  return into - (from - to);
}

/** Increments the decimal line number in place and returns the address of the first digit that changed. */
// @ts-ignore: decorator
@inline
function incrementNumber(): usize {
  let digit = NUMBER_END - 1;
  while (load<u8>(digit) == DIGIT_9) {
    store<u8>(digit, DIGIT_0);
    digit -= 1;
  }
  // Space is 0x20 and `0` is 0x30: setting that bit makes a padding space count as `0`.
  store<u8>(digit, (load<u8>(digit) | 0x10) + 1);
  return digit;
}
