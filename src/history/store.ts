import type { Dir } from '../fence/index.ts';
import type { KeptEntries } from './kept-entries.ts';
import type { HistoryLog } from './log/history-log.ts';

/** In how many parts the history is divided that fills its limits, about: it is removed one part at a time. */
export const SEGMENTS = 16;

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

/** What an operator should hear about. */
export type HistoryNotice =
  /** An entry was kept by copying it: there are no hard links here, or not to this file. */
  | { readonly kind: 'copied'; readonly path: string }
  /** A file is replaced or removed without being kept, because it is larger than all that may be kept. */
  | { readonly kind: 'unkept'; readonly path: string; readonly bytes: number };

/** Where a root's history is written. */
export interface HistoryStore {
  /** The folder that holds all of it. @internal */
  readonly folder: Dir;
  readonly options: HistoryOptions;
  readonly log: HistoryLog;
  readonly kept: KeptEntries;
  /** Tells whoever listens. */
  notify(notice: HistoryNotice): void;
}
