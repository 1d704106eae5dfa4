import * as wasm from '../../wasm/assembler.ts';

/** How many bytes are taken at once. */
export const STEP = 16;

const { I32, V128, get, set, tee, number } = wasm;

/** `count(from, to, byte)`: how often there is a byte between two addresses, a multiple of `STEP` apart and at least one. */
function count(): wasm.Func {
  const [from, to, byte, found, until, sums, wanted] = [0, 1, 2, 3, 4, 5, 6] as const;
  const isSame = wasm.bytesEqual(wasm.loadBytes(get(from)), get(wanted));
  const inFours = wasm.addPairsOfPairs(wasm.addPairsOfBytes(get(sums)));
  const code = [
    set(wanted, wasm.everyByte(get(byte))),
    wasm.loop(
      // What is the same is -1, and a byte cannot hold more of them.
      set(until, wasm.add(get(from), number(255 * STEP))),
      wasm.when(wasm.isLess(get(to), get(until)), set(until, get(to))),
      set(sums, wasm.everyByte(number(0))),
      wasm.loop(
        set(sums, wasm.subtractBytes(get(sums), isSame)),
        wasm.leaveIf(wasm.isLess(tee(from, wasm.add(get(from), number(STEP))), get(until)), 0),
      ),
      set(sums, inFours),
      [0, 1, 2, 3].flatMap((which) => set(found, wasm.add(get(found), wasm.numberOf(which, get(sums))))),
      wasm.leaveIf(wasm.isLess(get(from), get(to)), 0),
    ),
    get(found),
  ].flat();
  return { name: 'count', parameters: 3, locals: [I32, I32, V128, V128], code };
}

/** How many places a window may have. */
export const MOST_PLACES = 16;
/** How many of them are looked at first. */
export const PLACES = 3;
/** How many windows can be told apart: a bit of a number for each. */
export const MOST_WINDOWS = 32;

/** Where windows are kept for finders: what is left of the patience, two tables for each of three places, and the fit. */
export const WINDOW = { patience: 0, tables: 16, fit: 128, end: 128 + 4 * 256 * MOST_PLACES } as const;

const [FROM, TO, FIRST, SECOND, THIRD, LENGTH, PATIENCE, CANDIDATES, AT, PLACE, FITTING, SOON, FITS, BYTES, LOW_HALF] =
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14] as const;
const TABLES = 15;
const table = (place: number, which: number): number => TABLES + 2 * place + which;

/** So many addresses are passed over at once where nothing may fit, in steps; after something did, none of so many. */
const SKIP = 64;
const SKIPPED = [0, 16, 32, 48];
const CAREFUL = 128;

/** Finds out for 16 bytes whether they belong at a place, and puts together what was found out for several places. */
interface Way {
  belong(place: number): wasm.Code;
  readonly both: (...operands: wasm.Code[]) => wasm.Code;
  /** Two places seldom fit by chance: many addresses are passed over at once, and the third place is looked at only where they do. */
  readonly twoTell: boolean;
}

/** A byte belongs at a place if those of its bits that one table has are what the other says. */
const byMask: Way = {
  belong: (place) => wasm.bytesEqual(wasm.andBytes(get(BYTES), get(table(place, 0))), get(table(place, 1))),
  both: wasm.andBytes,
  twoTell: true,
};

/** It does if what one table says for its lower half and the other for its upper half have a bit in common. */
const byHalves: Way = {
  belong: (place) =>
    wasm.andBytes(
      wasm.lookUp(get(table(place, 0)), wasm.andBytes(get(BYTES), get(LOW_HALF))),
      wasm.lookUp(get(table(place, 1)), wasm.andBytes(wasm.shiftPairsRight(get(BYTES), number(4)), get(LOW_HALF))),
    ),
  both: wasm.leastBytes,
  twoTell: true,
};

/** The same, and it must be the same bit at all places. */
const byGroups: Way = { ...byHalves, both: wasm.andBytes, twoTell: false };

/**
 * `name(from, to, first, second, third, length, patience)`: the first address from one to before another where a window
 * fits, or some address beyond if there is none. Three of the windows' places are compared for 16 addresses at once,
 * the third perhaps only where it matters. Where all three fit, all places up to this length are compared: a bit in the row of
 * `WINDOW.fit` for a place tells for a byte whether it belongs there, for each of 32 windows another. After so many misses an
 * address is returned where nothing needs to be. What is left of the patience is stored.
 */
function finder(name: string, { belong, both, twoTell }: Way): wasm.Func {
  const test = (place: number, distance: number, ahead = 0): wasm.Code => [
    ...set(BYTES, wasm.loadBytes(wasm.add(get(FROM), get(distance)), ahead)),
    ...belong(place),
  ];
  const mayFit = (ahead: number): wasm.Code => both(test(0, FIRST, ahead), test(1, SECOND, ahead));
  const left = wasm.subtract(get(TO), get(FROM));
  const skip = wasm.block(
    wasm.loop(
      wasm.leaveIf(wasm.isLess(left, number(SKIP)), 1),
      wasm.leaveIf(wasm.isAnySet(SKIPPED.map(mayFit).reduce((a, b) => wasm.orBytes(a, b))), 1),
      set(FROM, wasm.add(get(FROM), number(SKIP))),
      wasm.leave(0),
    ),
  );
  const byteAt = wasm.loadByte(wasm.add(get(AT), get(PLACE)));
  const rowAndByte = wasm.add(wasm.shiftLeft(get(PLACE), number(8)), byteAt);
  const windowsAt = wasm.loadNumber(wasm.shiftLeft(rowAndByte, number(2)), WINDOW.fit);
  const finish = (value: wasm.Code): wasm.Code => [
    ...wasm.storeNumber(number(WINDOW.patience), get(PATIENCE)),
    ...wasm.giveBack(value),
  ];
  const lookCloser = wasm.loop(
    set(AT, wasm.add(get(FROM), wasm.lowestBit(get(CANDIDATES)))),
    set(PLACE, number(0)),
    set(FITTING, number(-1)),
    wasm.block(
      wasm.loop(
        wasm.leaveIf(wasm.isZero(tee(FITTING, wasm.and(get(FITTING), windowsAt))), 1),
        wasm.leaveIf(wasm.isLess(tee(PLACE, wasm.add(get(PLACE), number(1))), get(LENGTH)), 0),
      ),
      finish(get(AT)),
    ),
    wasm.when(wasm.isZero(tee(PATIENCE, wasm.subtract(get(PATIENCE), number(1)))), finish(get(AT))),
    wasm.leaveIf(tee(CANDIDATES, wasm.and(get(CANDIDATES), wasm.subtract(get(CANDIDATES), number(1)))), 0),
  );
  const none = wasm.everyByte(number(0));
  const step = [
    ...set(FITS, both(test(0, FIRST), test(1, SECOND))),
    ...wasm.block(
      twoTell ? wasm.leaveIf(wasm.isZero(wasm.isAnySet(get(FITS))), 0) : [],
      wasm.when(
        wasm.isAnySet(tee(FITS, both(get(FITS), test(2, THIRD)))),
        set(CANDIDATES, wasm.highBits(wasm.bytesDiffer(get(FITS), none))),
        lookCloser,
      ),
    ),
  ];
  const next = tee(FROM, wasm.add(get(FROM), number(STEP)));
  const inSkips = wasm.loop(
    skip,
    set(SOON, wasm.add(get(FROM), number(CAREFUL))),
    wasm.loop(
      step,
      wasm.when(wasm.isLess(next, get(TO)), wasm.leaveIf(wasm.isLess(get(FROM), get(SOON)), 1), wasm.leave(2)),
    ),
  );
  const code = [
    ...Array.from({ length: 2 * PLACES }, (_, i) => set(TABLES + i, wasm.loadBytes(number(0), WINDOW.tables + 16 * i))),
    set(LOW_HALF, wasm.everyByte(number(0x0f))),
    twoTell ? inSkips : wasm.loop(step, wasm.leaveIf(wasm.isLess(next, get(TO)), 0)),
    finish(get(FROM)),
  ].flat();
  const locals = [I32, I32, I32, I32, I32, V128, V128, V128, ...Array<number>(2 * PLACES).fill(V128)];
  return { name, parameters: 7, locals, code };
}

export const FUNCTIONS: readonly wasm.Func[] = [
  count(),
  finder('findByMask', byMask),
  finder('findByHalves', byHalves),
  finder('findByGroups', byGroups),
];
