import { stepKey } from '../log/step.ts';
import type { HistoryStore } from '../store.ts';
import type { Pause } from './kept-size.ts';

/** How many segments are looked at. What is older was left open before an earlier start. */
const MAX_SEGMENTS = 3;

/**
 * Returns the keys of the newest steps of which the log does not say whether they happened: they are under way, or
 * their process was killed.
 */
export async function openSteps({ log }: HistoryStore, pause: Pause): Promise<Set<string>> {
  log.writeMarks();
  const marked = new Set<string>();
  const open = new Set<string>();
  for (const segment of log.segments().slice(-MAX_SEGMENTS).reverse()) {
    for await (const records of log.folder.readInBatches(segment, pause)) {
      for (const record of records) {
        if ('done' in record) marked.add(record.done);
        else if ('cancelled' in record) marked.add(record.cancelled);
        else if ('kind' in record) open.add(stepKey(record));
      }
    }
  }
  for (const key of marked) open.delete(key);
  return open;
}
