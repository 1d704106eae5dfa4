import { type Checkpoint, checkpoints } from '../checkpoints.ts';
import { decodeRecords } from '../log/segment-folder.ts';
import { SegmentIndex } from '../log/segment-index.ts';
import type { HistoryOptions, HistoryStore } from '../store.ts';
import { keptSize, type Pause } from './kept-size.ts';

/** What a history holds. */
export interface HistoryStatistics {
  readonly changes: number;
  readonly steps: number;
  /** The content that was replaced or removed and is kept. */
  readonly keptBytes: number;
  readonly keptFiles: number;
  /** The size of the log itself. */
  readonly logBytes: number;
  /** When the first and the last step was logged, in milliseconds since 1970. Undefined without any. */
  readonly oldest: number | undefined;
  readonly newest: number | undefined;
  /** Whether older history has been removed. */
  readonly isCut: boolean;
  readonly limits: HistoryOptions;
  readonly checkpoints: readonly Checkpoint[];
}

/**
 * Returns what a history holds, mostly from what is stored beside the segments of its log. Steps that were cancelled do
 * not count. Calls `pause` between its steps.
 */
export async function historyStatistics(
  history: HistoryStore,
  pause: Pause = () => undefined,
): Promise<HistoryStatistics> {
  const { log, options } = history;
  log.writeMarks();
  const segments = log.segments();
  let [changes, steps, keptBytes, keptFiles, logBytes, oldest, newest] = [0, 0, 0, 0, 0, Number.POSITIVE_INFINITY, 0];
  for (const segment of segments) {
    const summary = summaryOf(history, segment, segment === segments.at(-1));
    if (summary === undefined) continue;
    const kept = await keptSize(history, segment, pause);
    changes += summary.changes;
    steps += summary.steps;
    keptBytes += kept.bytes;
    keptFiles += kept.files;
    logBytes += log.folder.statusOf(segment)?.size ?? 0;
    if (summary.first > 0) oldest = Math.min(oldest, summary.first);
    newest = Math.max(newest, summary.last);
  }
  return {
    changes,
    steps,
    keptBytes,
    keptFiles,
    logBytes,
    oldest: Number.isFinite(oldest) ? oldest : undefined,
    newest: newest > 0 ? newest : undefined,
    isCut: (segments[0] ?? 1) > 1,
    limits: options,
    checkpoints: checkpoints(history),
  };
}

function summaryOf({ log }: HistoryStore, segment: number, isNewest: boolean): SegmentIndex['summary'] | undefined {
  const found = isNewest ? undefined : log.indexOf(segment);
  if (found !== undefined && found.tail.length === 0) return found.index.summary;
  const bytes = log.readBytes(segment);
  return SegmentIndex.of(decodeRecords(bytes), bytes.length).summary;
}
