// The kernel that escapes JSON, in AssemblyScript: `scripts/build.js` compiles this file to WebAssembly.

/** Bytes per vector. As many may be read and written in vain behind an end. */
const LANES: usize = 16;
const LF: u8 = 0x0a;
const QUOTE: i8 = 0x22;
const BACKSLASH: i8 = 0x5c;
const SPACE: i8 = 0x20;
const DIGIT_0: u8 = 0x30;
const DIGIT_9: u8 = 0x39;

/** The escaped form of each byte, in eight bytes, and after all of them the length of each. */
export const FORMS_AT: usize = 0;
export const FORM_LENGTHS_AT: usize = 256 * 8;
/** The address at which the text of the current line number begins. */
export const NUMBER_START_AT: usize = FORM_LENGTHS_AT + 256;
/** The current line number, right-aligned in spaces, and behind it an escaped tab: together one vector. */
export const NUMBER_AT: usize = NUMBER_START_AT + 16;
export const NUMBER_END: usize = NUMBER_AT + LANES - 2;
const PREFIX_END: usize = NUMBER_AT + LANES;
/** The first byte that the host may use for texts; what lies before it may be read as part of a number. */
export const TEXT_AT: usize = PREFIX_END + LANES;

/**
 * Writes the bytes in `[from, to)` to `into` as they stand between the quotes of a JSON string, and returns where that ends.
 * With `numbered`, the number of the next line follows each line feed. Sixteen bytes at once are copied, of which those
 * count that come before the first one to escape.
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
    const plain: usize = escapes == 0 ? LANES : ctz(escapes);
    from += plain;
    into += plain;
    if (escapes == 0 || from >= to) continue;
    const byte = load<u8>(from);
    from += 1;
    store<u64>(into, load<u64>((<usize>byte) << 3, FORMS_AT));
    into += load<u8>(byte, FORM_LENGTHS_AT);
    if (!numbered || byte != LF) continue;
    const first = incrementNumber();
    if (first < numberStart) numberStart = first;
    v128.store(into, v128.load(numberStart));
    into += PREFIX_END - numberStart;
  }
  store<usize>(NUMBER_START_AT, numberStart);
  // What lies behind the end was copied too.
  return into - (from - to);
}

/** Adds one to the line number and returns the address of the first digit that changed. */
// @ts-ignore: decorator
@inline
function incrementNumber(): usize {
  let digit = NUMBER_END - 1;
  while (load<u8>(digit) == DIGIT_9) {
    store<u8>(digit, DIGIT_0);
    digit -= 1;
  }
  // A space becomes a 1 as a 0 does: they differ in one bit.
  store<u8>(digit, (load<u8>(digit) | 0x10) + 1);
  return digit;
}
