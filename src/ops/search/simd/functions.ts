import * as wasm from './assembler.ts';

/** How many bytes are taken at once. */
export const STEP = 16;

const { I32, V128, get, set, tee, number } = wasm;

/** `count(from, to, byte)`: how often there is a byte between two addresses, a multiple of `STEP` apart and at least one. */
function count(): wasm.Func {
  const [from, to, byte, found] = [0, 1, 2, 3] as const;
  const isSame = wasm.bytesEqual(wasm.loadBytes(get(from)), wasm.everyByte(get(byte)));
  const code = [
    ...wasm.loop(
      set(found, wasm.add(get(found), wasm.countBits(wasm.highBits(isSame)))),
      wasm.leaveIf(wasm.isLess(tee(from, wasm.add(get(from), number(STEP))), get(to)), 0),
    ),
    ...get(found),
  ];
  return { name: 'count', parameters: 3, locals: [I32], code };
}

/** Where a window is kept for finders: what is left of the patience, two tables for three places each, and the fit. */
export const WINDOW = { patience: 0, tables: 16, fit: 128, end: 128 + 4 * 256 } as const;
export const PLACES = 3;

const [FROM, TO, FIRST, SECOND, THIRD, LENGTH, PATIENCE, CANDIDATES, AT, PLACE, FITS, BYTES, LOW_HALF] = [
  ...Array(13).keys(),
] as [number, number, number, number, number, number, number, number, number, number, number, number, number];
const TABLES = 13;
const table = (place: number, which: number): number => TABLES + 2 * place + which;

/** Whether each of the bytes in a local belongs at a place: not 0 if it does. */
type Belongs = (place: number) => wasm.Code;

/** It does if, with the bits of one table cleared, it is what the other says. */
const byMask: Belongs = (place) =>
  wasm.bytesEqual(wasm.andBytes(get(BYTES), get(table(place, 0))), get(table(place, 1)));

/** It does if what one table says for its lower half and the other for its upper half have a bit in common. */
const byHalves: Belongs = (place) =>
  wasm.andBytes(
    wasm.lookUp(get(table(place, 0)), wasm.andBytes(get(BYTES), get(LOW_HALF))),
    wasm.lookUp(get(table(place, 1)), wasm.andBytes(wasm.shiftPairsRight(get(BYTES), number(4)), get(LOW_HALF))),
  );

/**
 * `name(from, to, first, second, third, length, patience)`: the first address from one to before another where the
 * window fits, or some address beyond if it fits nowhere. Three of the window's places are compared for 16 addresses at
 * once, the third only where it matters. Where all three fit, the whole window of this length is compared: a byte
 * belongs at place n if its number in `WINDOW.fit` has bit n. After so many misses an address is returned where nothing
 * needs to be. What is left of the patience is stored.
 */
function finder(name: string, belongs: Belongs): wasm.Func {
  const test = (place: number, distance: number): wasm.Code => [
    ...set(BYTES, wasm.loadBytes(wasm.add(get(FROM), get(distance)))),
    ...belongs(place),
  ];
  const byteAt = wasm.loadByte(wasm.add(get(AT), get(PLACE)));
  const placesOf = wasm.loadNumber(wasm.shiftLeft(byteAt, number(2)), WINDOW.fit);
  const isMiss = wasm.isZero(wasm.and(wasm.shiftRight(placesOf, get(PLACE)), number(1)));
  const finish = (value: wasm.Code): wasm.Code => [
    ...wasm.storeNumber(number(WINDOW.patience), get(PATIENCE)),
    ...wasm.giveBack(value),
  ];
  const lookCloser = wasm.loop(
    set(AT, wasm.add(get(FROM), wasm.lowestBit(get(CANDIDATES)))),
    set(PLACE, number(0)),
    wasm.block(
      wasm.loop(
        wasm.leaveIf(isMiss, 1),
        wasm.leaveIf(wasm.isLess(tee(PLACE, wasm.add(get(PLACE), number(1))), get(LENGTH)), 0),
      ),
      finish(get(AT)),
    ),
    wasm.when(wasm.isZero(tee(PATIENCE, wasm.subtract(get(PATIENCE), number(1)))), finish(get(AT))),
    wasm.leaveIf(tee(CANDIDATES, wasm.and(get(CANDIDATES), wasm.subtract(get(CANDIDATES), number(1)))), 0),
  );
  const none = wasm.everyByte(number(0));
  const code = [
    ...Array.from({ length: 2 * PLACES }, (_, i) => set(TABLES + i, wasm.loadBytes(number(0), WINDOW.tables + 16 * i))),
    set(LOW_HALF, wasm.everyByte(number(0x0f))),
    wasm.loop(
      wasm.when(
        wasm.isAnySet(tee(FITS, wasm.leastBytes(test(0, FIRST), test(1, SECOND)))),
        wasm.when(
          wasm.isAnySet(tee(FITS, wasm.leastBytes(get(FITS), test(2, THIRD)))),
          set(CANDIDATES, wasm.highBits(wasm.bytesDiffer(get(FITS), none))),
          lookCloser,
        ),
      ),
      wasm.leaveIf(wasm.isLess(tee(FROM, wasm.add(get(FROM), number(STEP))), get(TO)), 0),
    ),
    finish(get(FROM)),
    get(FROM),
  ].flat();
  const locals = [I32, I32, I32, V128, V128, V128, ...Array<number>(2 * PLACES).fill(V128)];
  return { name, parameters: 7, locals, code };
}

export const FUNCTIONS: readonly wasm.Func[] = [
  count(),
  finder('findByMask', byMask),
  finder('findByHalves', byHalves),
];
