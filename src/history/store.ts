import type { Dir } from '../fence/index.ts';
import type { HistoryLog } from './history-log.ts';
import type { KeptEntries } from './kept-entries.ts';

/** The folder at the top of a root that holds its history. Callers cannot reach it. */
export const HISTORY_FOLDER = '.ringfence';

/** How much history a root keeps. */
export interface HistoryOptions {
  /** For how long, in milliseconds. */
  readonly keepMs: number;
  /** How many bytes of replaced and removed content. */
  readonly maxBytes: number;
  /** Whether a file that is larger than that may be replaced or removed without being kept, or not at all. */
  readonly over: 'allow' | 'refuse';
}

/** What is kept of a root's history unless the operator says otherwise. */
export const DEFAULT_HISTORY: HistoryOptions = { keepMs: 7 * 86_400_000, maxBytes: 1024 ** 3, over: 'allow' };

/** Where a root's history is written. */
export interface HistoryStore {
  /** The folder that holds all of it. @internal */
  readonly folder: Dir;
  readonly options: HistoryOptions;
  readonly log: HistoryLog;
  readonly kept: KeptEntries;
}
