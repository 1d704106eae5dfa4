import type { LazyDfa } from './lazy-dfa.ts';

/** How far the automaton has come in a stretch of whole lines. */
export interface DfaCursor {
  /** Where the stretch begins and ends. */
  readonly from: number;
  readonly to: number;
  /** The next byte, and the state before it. */
  at: number;
  state: number;
}

// The loops that take most of the time of a search stand alone: the compiler makes them twice as fast then. Four bytes
// are taken at once, since a state that stands for a match, or for what is not known, is never left.

/** Goes on until it has to stop, to less than four bytes before the end. */
export function runDfa(lane: DfaCursor, bytes: Buffer, { table, stopAt }: LazyDfa): void {
  let { at, state } = lane;
  for (const last = lane.to - 4; at <= last; at += 4) {
    let next = table[state | (bytes[at] as number)] as number;
    next = table[next | (bytes[at + 1] as number)] as number;
    next = table[next | (bytes[at + 2] as number)] as number;
    next = table[next | (bytes[at + 3] as number)] as number;
    if (next <= stopAt) break;
    state = next;
  }
  lane.at = at;
  lane.state = state;
}

/** Does so in two lanes at the same time: in one alone, the processor spends half of the time waiting for the table. */
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
