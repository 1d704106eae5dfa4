// The SIMD kernels of the search, in AssemblyScript. `scripts/build.js` compiles this file to WebAssembly. They work in
// the memory that `search-memory.ts` provides: first the tables of a search, then the read buffers.
//
// Nibble lookups (shufti) and buckets (Teddy) are described in the Hyperscan paper,
// https://www.usenix.org/conference/nsdi19/presentation/wang-xiang, and in
// https://github.com/BurntSushi/aho-corasick/blob/master/src/packed/teddy/README.md. In contrast to both, the three
// probe positions need not be adjacent: the host chooses those with the rarest bytes.

/** Bytes per vector. */
const LANES: usize = 16;
/** Vectors that can be added up before an 8-bit lane overflows. */
const MAX_ADDITIONS: usize = 255;

/** Address of the number of candidates that a `find…` call may still reject; the host reads it after each call. */
export const BUDGET_AT: usize = 0;
/** Address of the probe tables: two vectors for each of the three probe positions. */
export const PROBES_AT: usize = 16;
/**
 * Address of the verification table. It has a row of 256 words for each position, one word per byte value: bit `i` is
 * set if sequence `i` allows that byte at that position.
 */
export const SEQUENCES_AT: usize = 128;

/** Counts a byte in `[from, to)`, whose length must be a positive multiple of 16. */
export function countByte(from: usize, to: usize, byte: i32): i32 {
  const wanted = i8x16.splat(<i8>byte);
  let total: i32 = 0;
  do {
    const until = min(from + MAX_ADDITIONS * LANES, to);
    let sums = i8x16.splat(0);
    do {
      // A comparison yields -1 in each equal lane.
      sums = i8x16.sub(sums, i8x16.eq(v128.load(from), wanted));
      from += LANES;
    } while (from < until);
    const quads = i32x4.extadd_pairwise_i16x8_u(i16x8.extadd_pairwise_i8x16_u(sums));
    total += i32x4.extract_lane(quads, 0) + i32x4.extract_lane(quads, 1);
    total += i32x4.extract_lane(quads, 2) + i32x4.extract_lane(quads, 3);
  } while (from < to);
  return total;
}

/** How a probe decides whether a byte is allowed at its position. */
const enum Probe {
  /** `byte & low == high`, with `low` the mask and `high` the value. */
  Mask,
  /** The table entries of the byte's low and high nibble share a bit (shufti). */
  Nibbles,
  /** Like `Nibbles`, and all three positions must share that bit, which stands for a bucket of sequences (Teddy). */
  Buckets,
}

/** Bytes per iteration of the skip loop. */
const STRIDE: usize = 64;
/** Distance after a candidate before the skip loop is used again, because candidates cluster. */
const CLOSE: usize = 128;

/** Returns non-zero lanes for those of the 16 bytes at `at` that are allowed at a probe position. */
// @ts-ignore: decorator
@inline
function probe(kind: Probe, at: usize, low: v128, high: v128): v128 {
  const bytes = v128.load(at);
  if (kind == Probe.Mask) return i8x16.eq(v128.and(bytes, low), high);
  const nibble = i8x16.splat(0x0f);
  const lows = i8x16.swizzle(low, v128.and(bytes, nibble));
  return v128.and(lows, i8x16.swizzle(high, v128.and(i16x8.shr_u(bytes, 4), nibble)));
}

/** Returns non-zero lanes where both inputs are non-zero; for `Buckets`, where they share a bit. */
// @ts-ignore: decorator
@inline
function both(kind: Probe, one: v128, other: v128): v128 {
  return kind == Probe.Nibbles ? i8x16.min_u(one, other) : v128.and(one, other);
}

/** Returns non-zero lanes where the first two probes match. */
// @ts-ignore: decorator
@inline
function pair(kind: Probe, one: usize, two: usize, low1: v128, high1: v128, low2: v128, high2: v128): v128 {
  return both(kind, probe(kind, one, low1, high1), probe(kind, two, low2, high2));
}

/**
 * Returns the first address in `[from, to)` where a sequence of byte classes starts, or an address at or after `to` if
 * there is none. Tests three probe positions, at the distances `first`, `second` and `third`, for 16 addresses at a
 * time, and verifies all positions up to `length` where all three match. After `budget` rejected candidates it returns
 * the last of them.
 */
// @ts-ignore: decorator
@inline
function find(
  kind: Probe,
  from: usize,
  to: usize,
  first: usize,
  second: usize,
  third: usize,
  length: i32,
  budget: i32,
): usize {
  const low1 = v128.load(PROBES_AT);
  const high1 = v128.load(PROBES_AT, 16);
  const low2 = v128.load(PROBES_AT, 32);
  const high2 = v128.load(PROBES_AT, 48);
  const low3 = v128.load(PROBES_AT, 64);
  const high3 = v128.load(PROBES_AT, 80);
  while (from < to) {
    // Two probes of single bytes or classes rarely match by chance; those of buckets often do.
    if (kind != Probe.Buckets) {
      while (to - from >= STRIDE) {
        const one = from + first;
        const two = from + second;
        const hits = v128.or(
          v128.or(
            pair(kind, one, two, low1, high1, low2, high2),
            pair(kind, one + 16, two + 16, low1, high1, low2, high2),
          ),
          v128.or(
            pair(kind, one + 32, two + 32, low1, high1, low2, high2),
            pair(kind, one + 48, two + 48, low1, high1, low2, high2),
          ),
        );
        if (v128.any_true(hits)) break;
        from += STRIDE;
      }
    }
    const close = from + CLOSE;
    do {
      let hits = pair(kind, from + first, from + second, low1, high1, low2, high2);
      if (kind == Probe.Buckets || v128.any_true(hits)) {
        hits = both(kind, hits, probe(kind, from + third, low3, high3));
        if (v128.any_true(hits)) {
          let candidates = i8x16.bitmask(i8x16.ne(hits, i8x16.splat(0)));
          do {
            const at = from + ctz(candidates);
            let fitting: u32 = u32.MAX_VALUE;
            let position: i32 = 0;
            do {
              const row = (position << 8) + load<u8>(at + position);
              fitting &= load<u32>(row << 2, SEQUENCES_AT);
            } while (fitting != 0 && ++position < length);
            if (fitting != 0 || --budget == 0) {
              store<i32>(BUDGET_AT, budget);
              return at;
            }
            candidates &= candidates - 1;
          } while (candidates != 0);
        }
      }
      from += LANES;
    } while (from < to && (kind == Probe.Buckets || from < close));
  }
  store<i32>(BUDGET_AT, budget);
  return from;
}

/** Finds sequences by mask probes; see `find`. */
export function findByMask(
  from: usize,
  to: usize,
  first: usize,
  second: usize,
  third: usize,
  length: i32,
  budget: i32,
): usize {
  return find(Probe.Mask, from, to, first, second, third, length, budget);
}

/** Finds sequences by nibble probes (shufti); see `find`. */
export function findByNibbles(
  from: usize,
  to: usize,
  first: usize,
  second: usize,
  third: usize,
  length: i32,
  budget: i32,
): usize {
  return find(Probe.Nibbles, from, to, first, second, third, length, budget);
}

/** Finds sequences by bucket probes (Teddy); see `find`. */
export function findByBuckets(
  from: usize,
  to: usize,
  first: usize,
  second: usize,
  third: usize,
  length: i32,
  budget: i32,
): usize {
  return find(Probe.Buckets, from, to, first, second, third, length, budget);
}
