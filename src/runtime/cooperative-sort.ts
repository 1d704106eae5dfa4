type Compare<T> = (a: T, b: T) => number;

/** Initial run length: the built-in sort handles this many items in a few milliseconds. */
const RUN_LENGTH = 16 * 1024;
/** Merged items between two calls of `pause`. */
const ITEMS_PER_STEP = 4096;

interface SortOptions<T> {
  /** Default: strings in order of their UTF-16 code units. */
  readonly compare?: Compare<T> | undefined;
  /** Called between steps. A returned promise is awaited. */
  pause(): Promise<void> | undefined;
}

/**
 * Sorts a list of any length without blocking the event loop: a bottom-up merge sort whose initial runs are sorted by
 * the built-in sort. Stable, and it does not modify `items`. Calls `pause` between runs and every 4,096 merged items.
 * Rejects with what `compare` or `pause` throws.
 */
export async function cooperativeSort<T>(items: readonly T[], { compare, pause }: SortOptions<T>): Promise<T[]> {
  if (items.length <= RUN_LENGTH) return items.toSorted(compare);
  let runs: T[][] = [];
  for (let from = 0; from < items.length; from += RUN_LENGTH) {
    runs.push(items.slice(from, from + RUN_LENGTH).sort(compare));
    const wait = pause();
    if (wait !== undefined) await wait;
  }
  const order = compare ?? ((a: T, b: T) => (a < b ? -1 : a > b ? 1 : 0));
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let at = 0; at < runs.length; at += 2) {
      const [left = [], right] = runs.slice(at, at + 2);
      merged.push(right === undefined ? left : await merge(left, right, order, pause));
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

async function merge<T>(left: T[], right: T[], compare: Compare<T>, pause: SortOptions<T>['pause']): Promise<T[]> {
  const merged: T[] = [];
  let l = 0;
  let r = 0;
  while (l < left.length && r < right.length) {
    const a = left[l] as T;
    const b = right[r] as T;
    if (compare(a, b) <= 0) {
      merged.push(a);
      l += 1;
    } else {
      merged.push(b);
      r += 1;
    }
    if (merged.length % ITEMS_PER_STEP !== 0) continue;
    const wait = pause();
    if (wait !== undefined) await wait;
  }
  while (l < left.length) merged.push(left[l++] as T);
  while (r < right.length) merged.push(right[r++] as T);
  return merged;
}
