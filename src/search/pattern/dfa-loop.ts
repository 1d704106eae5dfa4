import type { LazyDfa } from './lazy-dfa.ts';

/** Position of the DFA in a range of whole lines. */
export interface DfaCursor {
  /** Bounds of the range. */
  readonly from: number;
  readonly to: number;
  /** Offset of the next byte, and the DFA state before it. */
  at: number;
  state: number;
}

// These two loops take most of the time of an unfiltered search. As separate functions V8 compiles them to code twice
// as fast. They are unrolled four times and check the state once per four bytes: `UNKNOWN` and `MATCHED` lead only to
// themselves, so they are still seen, and a missed `DEAD` costs time only.

/**
 * Runs the DFA until it reaches a state up to `stopAt`, or until fewer than four bytes are left. The cursor stays
 * before the four bytes in which it stopped.
 */
export function runDfa(cursor: DfaCursor, bytes: Buffer, { table, stopAt }: LazyDfa): void {
  let { at, state } = cursor;
  for (const last = cursor.to - 4; at <= last; at += 4) {
    let next = table[state | (bytes[at] as number)] as number;
    next = table[next | (bytes[at + 1] as number)] as number;
    next = table[next | (bytes[at + 2] as number)] as number;
    next = table[next | (bytes[at + 3] as number)] as number;
    if (next <= stopAt) break;
    state = next;
  }
  cursor.at = at;
  cursor.state = state;
}

/**
 * Runs the DFA on two independent ranges in one loop and stops when either cursor has to stop. With a single cursor,
 * the processor waits half of the time for the dependent table lookups.
 */
export function runDfaPair(one: DfaCursor, two: DfaCursor, bytes: Buffer, { table, stopAt }: LazyDfa): void {
  const i = one.at;
  const j = two.at;
  let first = one.state;
  let second = two.state;
  const count = Math.min(one.to - i, two.to - j) - 3;
  let k = 0;
  for (; k < count; k += 4) {
    let a = table[first | (bytes[i + k] as number)] as number;
    let b = table[second | (bytes[j + k] as number)] as number;
    a = table[a | (bytes[i + k + 1] as number)] as number;
    b = table[b | (bytes[j + k + 1] as number)] as number;
    a = table[a | (bytes[i + k + 2] as number)] as number;
    b = table[b | (bytes[j + k + 2] as number)] as number;
    a = table[a | (bytes[i + k + 3] as number)] as number;
    b = table[b | (bytes[j + k + 3] as number)] as number;
    if (a <= stopAt || b <= stopAt) break;
    first = a;
    second = b;
  }
  one.at = i + k;
  one.state = first;
  two.at = j + k;
  two.state = second;
}
