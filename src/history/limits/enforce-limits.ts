import { isFenceError, lockFolder, ownerState } from '../../fence/index.ts';
import { newestCheckpoint } from '../checkpoints.ts';
import type { DirEntry } from '../kept-entries.ts';
import { pastSteps } from '../log/past-steps.ts';
import type { IndexedSegment } from '../log/segment-folder.ts';
import { stepKey } from '../log/step.ts';
import { type HistoryStore, SEGMENTS } from '../store.ts';
import { type KeptSize, keptSize, type Pause } from './kept-size.ts';

/** A part of the history that was removed, because it no longer fits the limits. */
export interface ExpiredHistory extends KeptSize {
  /** Which limit it was removed for. */
  readonly limit: 'keep' | 'max_bytes';
  readonly changes: number;
  /** When its last step was logged, in milliseconds since 1970. */
  readonly until: number;
  /** The name of the newest checkpoint, if something is gone that was changed since. */
  readonly checkpoint?: string | undefined;
}

/** What `enforceLimits` needs from whoever runs it. */
export interface EnforceOptions {
  /** Called between small parts of the work. Stops the work by throwing. */
  readonly pause: Pause;
  /** Removes a folder with everything in it, read-only folders too. */
  removeTree(entry: DirEntry): Promise<void>;
  /** How long nobody must have written to a segment that is removed, in milliseconds; longer than processes use it. */
  readonly quietMs?: number;
}

const QUIET_MS = 2000;

interface Part extends KeptSize {
  readonly segment: number;
  readonly last: number;
  readonly changes: number;
}

/**
 * Removes the oldest history, a segment of the log at a time, until the rest fits `keepMs` and `maxBytes`, and returns
 * what it removed. The newest segment stays. Makes the indexes of segments, counts what removed folders hold, and
 * removes what killed processes left unfinished. Does nothing if another process is doing this.
 *
 * A step whose record or kept entry is gone has expired for whoever reads the history meanwhile.
 */
export async function enforceLimits(history: HistoryStore, options: EnforceOptions): Promise<ExpiredHistory[]> {
  const lock = await tryLock(history);
  if (lock === 'busy') return [];
  using _lock = lock;
  history.log.writeMarks();
  const removed = await expireOldest(history, options);
  removeStrays(history);
  await history.kept.removeExpired((entry) => options.removeTree(entry));
  return removed;
}

async function tryLock({ folder }: HistoryStore): Promise<Disposable | 'busy' | undefined> {
  try {
    return await lockFolder(folder, 0);
  } catch (error) {
    if (isFenceError(error, 'busy')) return 'busy';
    throw error;
  }
}

async function expireOldest(history: HistoryStore, options: EnforceOptions): Promise<ExpiredHistory[]> {
  const { keepMs, maxBytes } = history.options;
  const now = Date.now();
  await endNewestIfDue(history, options.pause);
  const parts = await measure(history, options.pause);
  const checkpoint = newestCheckpoint(history);
  const removed: ExpiredHistory[] = [];
  let bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
  for (const part of parts) {
    const limit = part.last < now - keepMs ? 'keep' : bytes > maxBytes ? 'max_bytes' : undefined;
    if (limit === undefined || isInUse(history, part.segment, options.quietMs ?? QUIET_MS)) break;
    // The record first, so that there is none whose kept entries are gone.
    history.log.folder.remove(part.segment);
    history.kept.expire(part.segment);
    bytes -= part.bytes;
    const { changes, last: until, files } = part;
    const isSince = checkpoint !== undefined && until > checkpoint.time;
    removed.push({ limit, changes, until, bytes: part.bytes, files, ...(isSince && { checkpoint: checkpoint.name }) });
    await options.pause();
  }
  return removed;
}

/** Measures all segments, oldest first. */
async function measure(history: HistoryStore, pause: Pause): Promise<Part[]> {
  const { log } = history;
  const segments = log.segments();
  const newest = segments.at(-1);
  const parts: Part[] = [];
  for (const segment of segments) {
    await pause();
    const size = await keptSize(history, segment, pause);
    if (segment === newest) {
      parts.push({ segment, last: Number.POSITIVE_INFINITY, changes: 0, bytes: size.bytes, files: size.files });
      continue;
    }
    await log.folder.makeIndex(segment, pause);
    const found = log.indexOf(segment);
    if (found === undefined) continue;
    const { changes } = found.index.summary;
    parts.push({ segment, last: lastTime(found), changes, bytes: size.bytes, files: size.files });
  }
  return parts;
}

/** Ends the newest segment if it keeps its share of the limit, or is old enough, so that it can be removed in time. */
async function endNewestIfDue(history: HistoryStore, pause: Pause): Promise<void> {
  const { log, options } = history;
  const newest = log.segments().at(-1);
  if (newest === undefined || (log.folder.statusOf(newest)?.size ?? 0) === 0) return;
  const { bytes } = await keptSize(history, newest, pause);
  if (bytes > options.maxBytes / SEGMENTS) log.rotate();
  else log.current();
}

/**
 * Reports whether a process may still write to a segment, or to what its steps keep: it is the newest, somebody has
 * written to it just now, or a step is under way.
 */
function isInUse(history: HistoryStore, segment: number, quietMs: number): boolean {
  const { log } = history;
  if (segment === log.segments().at(-1)) return true;
  const status = log.folder.statusOf(segment);
  const found = log.indexOf(segment);
  if (status === undefined || found === undefined) return false;
  return Math.abs(Date.now() - status.mtimeMs) < quietMs || hasStepsUnderWay(history, segment, found);
}

function hasStepsUnderWay(history: HistoryStore, segment: number, { index }: IndexedSegment): boolean {
  const unmarked = new Set(index.summary.unmarked);
  if (unmarked.size === 0) return false;
  const steps = history.log.read(segment).filter((record) => 'kind' in record);
  return steps.some((step) => {
    const key = stepKey(step);
    if (!unmarked.has(key) || ownerState(step.process) !== 'running') return false;
    // Its mark may be in a newer segment.
    const [found] = [...pastSteps(history, { path: step.path })].filter((past) => past.key === key);
    return found !== undefined && found.done === undefined && !found.cancelled;
  });
}

/** Takes away what is kept for segments that are gone. */
function removeStrays({ log, kept }: HistoryStore): void {
  log.folder.removeLeftovers();
  const segments = new Set(log.segments());
  const newest = Math.max(...segments, 0);
  for (const segment of kept.segments()) if (segment < newest && !segments.has(segment)) kept.expire(segment);
}

function lastTime({ index, tail }: IndexedSegment): number {
  const times = tail.flatMap((record) => ('kind' in record ? [record.time] : []));
  return Math.max(index.summary.last, ...times);
}
