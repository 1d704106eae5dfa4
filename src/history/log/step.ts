import type { Stats } from 'node:fs';
import { type EntryType, entryTypeOf } from '../../fence/index.ts';
import type { Caller } from '../../runtime/operation-context.ts';

/** The folder at the top of a root that holds its history. Callers cannot reach it. */
export const HISTORY_FOLDER = '.ringfence';

/** What an entry was like at one moment: enough to recognise it later, and to tell whether it has changed since. */
export interface EntryState {
  readonly type: EntryType;
  readonly ino: number;
  readonly mode: number;
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
}

/**
 * What a step does to the entry at its path:
 * - `put` makes or replaces a file, a link, or a folder that comes with all its content;
 * - `append` adds to the end of a file in place, and `truncate` cuts a file in place;
 * - `remove` removes an entry, a folder with everything in it;
 * - `make` makes an empty folder, and `unmake` removes one;
 * - `move` moves an entry to `to`.
 */
type StepKind = 'put' | 'append' | 'truncate' | 'remove' | 'make' | 'unmake' | 'move';

/** Why what a step replaced is not kept. */
type Unkept = 'too_large';

/** One step of a change: what happens to one entry of a root. It is logged before it happens. */
export interface Step {
  /** The id of the change that it belongs to: all that one call does in one root. */
  readonly change: string;
  /** Its number within the change, from 0. */
  readonly number: number;
  /** In milliseconds since 1970. */
  readonly time: number;
  readonly caller: Caller;
  /** A temporary name of the process that made the step, by which others know whether it is still running. */
  readonly process: string;
  readonly kind: StepKind;
  /** From the top of the root, without links. See `pathToText` for names that are not UTF-8. */
  readonly path: string;
  /** Where a move goes, from the top of the root. */
  readonly to?: string | undefined;
  /** What was at `path`; undefined if there was nothing. */
  readonly before?: EntryState | undefined;
  /** What a move replaced at `to`. */
  readonly replaced?: EntryState | undefined;
  /** What is there afterwards, as far as that is known ahead: the times may differ. */
  readonly after?: EntryState | undefined;
  /**
   * Where that which was replaced, removed or cut off is kept, in the folder of kept entries. For `truncate`, a file
   * with what was cut off.
   */
  readonly kept?: string | undefined;
  /** Why it is not kept, although there was something. */
  readonly unkept?: Unkept | undefined;
  /** The key of the step that this one undoes. */
  readonly undoes?: string | undefined;
  /** Where this step takes what it puts from, in the folder of kept entries, if it undoes another. */
  readonly from?: string | undefined;
  /** The exact modification time of the file before an append or a cut, in nanoseconds since 1970. */
  readonly mtimeNs?: string | undefined;
}

/** Says that a step has happened, and what it left. */
export interface DoneMark {
  /** The key of the step. */
  readonly done: string;
  /** What is at the path of the step afterwards, or at `to` for a move. */
  readonly after?: EntryState | undefined;
  /** When the status of the kept entry last changed. Whoever changes the entry through a hard link changes that, too. */
  readonly keptCtimeMs?: number | undefined;
  /** When the status of the entry at the path last changed before the step, if it was logged long before it happened. */
  readonly beforeCtimeMs?: number | undefined;
  /** When the status of the kept entry last changed that the step took from its place. */
  readonly fromCtimeMs?: number | undefined;
}

/** How the change time (ctime) of an inode changed: from which time to which. */
export interface TimeChange {
  readonly ino: number;
  readonly from: number;
  readonly to: number;
}

/** Says that a step was given up before it happened. */
export interface CancelMark {
  /** The key of the step. */
  readonly cancelled: string;
  /** What linking the entry that was to be kept, and letting it go, did to it. */
  readonly ctimes?: readonly TimeChange[] | undefined;
}

/** What a kept folder holds, which is counted after the fact. */
export interface SizeMark {
  /** The key of the step. */
  readonly counted: string;
  readonly bytes: number;
  readonly files: number;
}

/** One line of the log. */
export type LogRecord = Step | DoneMark | CancelMark | SizeMark;

/** Returns what identifies a step in the log of its root. */
export function stepKey({ change, number }: Pick<Step, 'change' | 'number'>): string {
  return `${change}.${number}`;
}

/** Reports whether a path is another one, or below it. The empty path is the root's top. */
export function isAtOrBelow(path: string, above: string): boolean {
  return path.startsWith(above) && (above === '' || path.length === above.length || path[above.length] === '/');
}

/** Reports whether a step is about a path, or about what is below it. */
export function isAbout({ path: at, to }: Step, path: string): boolean {
  return isAtOrBelow(at, path) || (to !== undefined && isAtOrBelow(to, path));
}

/** Reports whether a step keeps a folder, whose content is counted after the fact. */
export function keepsFolder({ kept, before }: Step): boolean {
  return kept !== undefined && before?.type === 'directory';
}

/** Returns what is to be remembered of an entry. */
export function stateOf(stats: Stats): EntryState {
  const { ino, mode, size, mtimeMs, ctimeMs } = stats;
  return { type: entryTypeOf(stats), ino, mode: mode & 0o7777, size, mtimeMs, ctimeMs };
}

/**
 * How much the modification time of a file may differ that was set to what it was: Node sets it to the microsecond.
 */
const MTIME_TOLERANCE_MS = 0.002;

/**
 * Reports whether an entry is still the one that was remembered, with the same content as far as its status shows. Links
 * to it, and its mode, may have changed.
 */
export function isSameEntry(state: EntryState | undefined, now: Stats | EntryState | undefined): boolean {
  if (state === undefined || now === undefined) return state === undefined && now === undefined;
  if (state.ino !== now.ino) return false;
  if (state.type === 'directory') return true;
  return state.size === now.size && Math.abs(state.mtimeMs - now.mtimeMs) < MTIME_TOLERANCE_MS;
}
