import type { HistoryLog } from './history-log.ts';
import { marksOf, recordsAbout } from './segment-scan.ts';
import type { CancelMark, DoneMark, LogRecord, SizeMark, Step } from './step.ts';
import { isAbout, keepsFolder, stepKey } from './step.ts';

/** A step that was logged, with what the log says about it. */
export interface PastStep {
  readonly step: Step;
  readonly key: string;
  /** Set if the process that made the step has noted that it happened. */
  readonly done: DoneMark | undefined;
  /** Set if it was given up, or taken back at once, whatever else is noted. Neither this nor `done` is set if the process was killed, or is about to do it. */
  readonly cancelled: boolean;
  /** Set for a kept folder once its content is counted. */
  readonly counted: SizeMark | undefined;
}

/** Which steps `pastSteps` reads; by default all. */
export interface StepFilter {
  /** Those at this path, from the top of the root, and below it. The index of the log saves reading most others. */
  readonly path?: string | undefined;
  /** Hears of marks that a step was given up, before all steps that are older than the mark. Not with a path. */
  readonly onCancelled?: ((mark: CancelMark) => void) | undefined;
}

/** Reads the steps of a root's history, newest first, one segment of the log at a time. */
export function* pastSteps(
  { log }: { readonly log: HistoryLog },
  { path = '', onCancelled }: StepFilter = {},
): Generator<PastStep, void, undefined> {
  log.writeMarks();
  const segments = log.segments().reverse();
  if (path !== '') {
    yield* stepsAbout(path, log, segments);
    return;
  }
  // A mark is never in an older segment than its step.
  const marks = new Marks();
  for (const segment of segments) {
    const records = log.read(segment);
    for (const record of records) {
      marks.take(record);
      if ('cancelled' in record) onCancelled?.(record);
    }
    for (const record of records.reverse()) if ('kind' in record) yield marks.of(record);
  }
}

/** Reads the steps about a path. The newest segment has no index, so it is read first. */
function* stepsAbout(
  path: string,
  log: HistoryLog,
  [newest, ...older]: readonly number[],
): Generator<PastStep, void, undefined> {
  if (newest === undefined) return;
  const marks = new Marks();
  const newestBytes = log.readBytes(newest);

  function* take(records: readonly LogRecord[]): Generator<PastStep, void, undefined> {
    for (const record of records) marks.take(record);
    for (const record of [...records].reverse()) {
      if (!('kind' in record && isAbout(record, path))) continue;
      if (!marks.has(record)) for (const mark of marksOf(newestBytes, record)) marks.take(mark);
      yield marks.of(record);
    }
  }

  yield* take(recordsAbout(newestBytes, path));
  for (const segment of older) {
    const found = log.indexOf(segment);
    if (found === undefined) continue;
    const { index, tail } = found;
    yield* take([
      ...index.summary.marks,
      ...(index.mayHave(path) ? recordsAbout(log.readBytes(segment).subarray(0, index.summary.covers), path) : []),
      ...tail,
    ]);
  }
}

/** What the log says about steps. Each is forgotten once it is asked for. */
class Marks {
  readonly #done = new Map<string, DoneMark>();
  readonly #cancelled = new Set<string>();
  readonly #counted = new Map<string, SizeMark>();

  take(record: LogRecord): void {
    if ('done' in record) this.#done.set(record.done, record);
    else if ('cancelled' in record) this.#cancelled.add(record.cancelled);
    else if ('counted' in record) this.#counted.set(record.counted, record);
  }

  /** Reports whether all is known that the log may say about a step. */
  has(step: Step): boolean {
    const key = stepKey(step);
    if (this.#cancelled.has(key)) return true;
    return this.#done.has(key) && (!keepsFolder(step) || this.#counted.has(key));
  }

  of(step: Step): PastStep {
    const key = stepKey(step);
    const found: PastStep = {
      step,
      key,
      done: this.#done.get(key),
      cancelled: this.#cancelled.delete(key),
      counted: this.#counted.get(key),
    };
    this.#done.delete(key);
    this.#counted.delete(key);
    return found;
  }
}
