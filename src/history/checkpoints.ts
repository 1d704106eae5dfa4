import { setTimeout as sleep } from 'node:timers/promises';
import { CheckpointError } from './errors.ts';
import { pastSteps } from './log/past-steps.ts';
import { appendRecords, readRecords } from './record-file.ts';
import type { HistoryStore } from './store.ts';

/** A point in the history of a root that somebody gave a name, to show or take back everything since. */
export interface Checkpoint {
  readonly name: string;
  /** In milliseconds since 1970. Every step that was logged before has at most this time, every later one a later. */
  readonly time: number;
  /** The id of the change that was logged last. Undefined if there was none. */
  readonly change?: string | undefined;
}

const FILE = 'checkpoints';
const MAX_NAME_LENGTH = 64;
const DEFAULT_NAME = 'checkpoint-';
const NAME = /^[\p{L}\p{N}_][\p{L}\p{M}\p{N} ._-]*$/u;
/** What means a time where a checkpoint can be named: a date, or a duration such as `15m`. */
const LOOKS_LIKE_TIME = /^(\d{4}-|\d+(\.\d+)?\s*[a-z]{1,2}$)/i;

/**
 * Adds a checkpoint, by default with a number as its name. A name that is there already moves on to now. Accepting a
 * review is a new checkpoint, at the `time` when the review was made. Raises `CheckpointError` for a name that is empty,
 * longer than 64 characters, looks like a time, or has other characters than letters, digits, spaces and `._-`.
 */
export async function addCheckpoint(
  history: HistoryStore,
  name?: string,
  time: number = Date.now(),
): Promise<Checkpoint> {
  if (name !== undefined && !isCheckpointName(name)) throw new CheckpointError(name);
  const [last] = pastSteps(history);
  const checkpoint: Checkpoint = {
    name: name ?? nextName(checkpoints(history)),
    time,
    ...(last && { change: last.step.change }),
  };
  await appendRecords(history, FILE, [checkpoint]);
  // No step that comes later has the same time.
  while (Date.now() <= checkpoint.time) await sleep(1);
  return checkpoint;
}

/** Returns the checkpoints of a history, newest first. Of several with the same name, the newest counts. */
export function checkpoints(history: HistoryStore): Checkpoint[] {
  const byName = new Map<string, Checkpoint>();
  for (const checkpoint of readRecords(history, FILE, isCheckpoint)) {
    byName.delete(checkpoint.name);
    byName.set(checkpoint.name, checkpoint);
  }
  return [...byName.values()].reverse();
}

/** Returns the checkpoint that was added last. Undefined if there is none. */
export function newestCheckpoint(history: HistoryStore): Checkpoint | undefined {
  return checkpoints(history)[0];
}

function nextName(known: readonly Checkpoint[]): string {
  const numbers = known.map(({ name }) =>
    name.startsWith(DEFAULT_NAME) ? Number(name.slice(DEFAULT_NAME.length)) : 0,
  );
  return DEFAULT_NAME + (Math.max(0, ...numbers.filter(Number.isSafeInteger)) + 1);
}

function isCheckpointName(name: string): boolean {
  return name.length <= MAX_NAME_LENGTH && NAME.test(name) && !LOOKS_LIKE_TIME.test(name);
}

function isCheckpoint(value: unknown): value is Checkpoint {
  if (typeof value !== 'object' || value === null) return false;
  const { name, time, change } = value as Record<string, unknown>;
  if (typeof name !== 'string' || !isCheckpointName(name) || !Number.isFinite(time)) return false;
  return change === undefined || (typeof change === 'string' && /^[0-9a-z]{1,32}$/.test(change));
}
