/** Instructions of WebAssembly in the form in which they are run. Operands come first, so code nests like an expression. */
export type Code = readonly number[];

export const I32 = 0x7f;
export const V128 = 0x7b;

const NO_RESULT = 0x40;
const SIMD = 0xfd;
/** What an address is a multiple of; it is only a hint. */
const ANY = 0;

/** A number in groups of seven bits, the lowest first. */
function unsigned(value: number): Code {
  return value < 0x80 ? [value] : [0x80 | (value & 0x7f), ...unsigned(value >>> 7)];
}

function signed(value: number): Code {
  return value >= -0x40 && value < 0x40 ? [value & 0x7f] : [0x80 | (value & 0x7f), ...signed(value >> 7)];
}

/** An instruction that takes the values of its operands. */
const op =
  (...opcode: number[]) =>
  (...operands: Code[]): Code => [...operands.flat(), ...opcode];

const simd = (opcode: number, ...rest: number[]) => op(SIMD, ...unsigned(opcode), ...rest);

export const get = (local: number): Code => [0x20, local];
export const set = (local: number, value: Code): Code => [...value, 0x21, local];
/** Sets it and gives its new value. */
export const tee = (local: number, value: Code): Code => [...value, 0x22, local];

export const number = (value: number): Code => [0x41, ...signed(value)];
export const add = op(0x6a);
export const subtract = op(0x6b);
export const and = op(0x71);
export const shiftLeft = op(0x74);
export const isZero = op(0x45);
export const isEqual = op(0x46);
export const isLess = op(0x49);
/** How many bits are 0 below the lowest 1. */
export const lowestBit = op(0x68);
export const or = op(0x72);
export const loadByte = (address: Code, offset = 0): Code => [...address, 0x2d, ANY, ...unsigned(offset)];
export const loadNumber = (address: Code, offset = 0): Code => [...address, 0x28, ANY, ...unsigned(offset)];
export const storeByte = (address: Code, value: Code): Code => [...address, ...value, 0x3a, ANY, 0];
export const storeNumber = (address: Code, value: Code): Code => [...address, ...value, 0x36, ANY, 0];
/** Eight bytes, to be stored elsewhere. */
export const loadEight = (address: Code, offset = 0): Code => [...address, 0x29, ANY, ...unsigned(offset)];
export const storeEight = (address: Code, value: Code): Code => [...address, ...value, 0x37, ANY, 0];

export const loadBytes = (address: Code, offset = 0): Code => [...address, SIMD, 0x00, ANY, ...unsigned(offset)];
export const storeBytes = (address: Code, value: Code): Code => [...address, ...value, SIMD, 0x0b, ANY, 0];
/** The same byte 16 times. */
export const everyByte = simd(0x0f);
export const bytesEqual = simd(0x23);
export const bytesDiffer = simd(0x24);
export const bytesBelow = simd(0x26);
export const andBytes = simd(0x4e);
export const orBytes = simd(0x50);
export const leastBytes = simd(0x77);
export const subtractBytes = simd(0x71);
/** Sums of two neighbours, as numbers of twice their size. */
export const addPairsOfBytes = simd(0x7d);
export const addPairsOfPairs = simd(0x7f);
/** One of four numbers. */
export const numberOf = (which: number, numbers: Code): Code => [...numbers, SIMD, 0x1b, which];
/** Takes of the first operand, for each byte of the second, the byte with that number. */
export const lookUp = simd(0x0e);
/** Shifts pairs of bytes. */
export const shiftPairsRight = simd(0x8d);
export const isAnySet = simd(0x53);
/** The highest bit of each byte. */
export const highBits = simd(0x64);

export const giveBack = op(0x0f);
/** `leave(0)` within goes to the end. */
export const block = (...code: Code[]): Code => [0x02, NO_RESULT, ...code.flat(), 0x0b];
/** `leave(0)` within goes to the beginning. */
export const loop = (...code: Code[]): Code => [0x03, NO_RESULT, ...code.flat(), 0x0b];
export const when = (condition: Code, ...code: Code[]): Code => [...condition, 0x04, NO_RESULT, ...code.flat(), 0x0b];
/** Goes to an end or a beginning as many levels further out. */
export const leave = (levels: number): Code => [0x0c, levels];
export const leaveIf = (condition: Code, levels: number): Code => [...condition, 0x0d, levels];

/** Takes numbers and gives one back; locals are counted on from the parameters. */
export interface Func {
  readonly name: string;
  readonly parameters: number;
  /** The types of its locals. */
  readonly locals: readonly number[];
  readonly code: Code;
}

/** A module that imports `own.pages` and exports these functions. */
export function assemble(functions: readonly Func[]): Uint8Array {
  const types = functions.map(({ parameters }) => [0x60, parameters, ...Array(parameters).fill(I32), 1, I32]);
  const imports = [[...name('own'), ...name('pages'), 2, 0, 1]];
  const exports = functions.map((func, i) => [...name(func.name), 0, i]);
  const bodies = functions.map(({ locals, code }) => {
    const body = [locals.length, ...locals.flatMap((type) => [1, type]), ...code, 0x0b];
    return [...unsigned(body.length), ...body];
  });
  return Uint8Array.from([
    ...[0x00, ...Buffer.from('asm'), 1, 0, 0, 0],
    ...section(1, types),
    ...section(2, imports),
    ...section(
      3,
      [...functions.keys()].map((i) => [i]),
    ),
    ...section(7, exports),
    ...section(10, bodies),
  ]);
}

const name = (text: string): Code => [text.length, ...Buffer.from(text)];

function section(id: number, entries: readonly Code[]): Code {
  const content = [entries.length, ...entries.flat()];
  return [id, ...unsigned(content.length), ...content];
}
