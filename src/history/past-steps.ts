import type { DoneMark, LogRecord, SizeMark, Step } from './step.ts';
import { stepKey } from './step.ts';
import type { HistoryStore } from './store.ts';

/** A step that was logged, with what the log says about it. */
export interface PastStep {
  readonly step: Step;
  readonly key: string;
  /** Set if the process that made the step has noted that it happened. */
  readonly done: DoneMark | undefined;
  /** Set if it was given up. Neither this nor `done` is set if the process was killed, or is about to do it. */
  readonly cancelled: boolean;
  /** Set for a kept folder once its content is counted. */
  readonly counted: SizeMark | undefined;
}

/** Reads the steps of a root's history, newest first, one segment of the log at a time. */
export function* pastSteps(store: Pick<HistoryStore, 'log'>): Generator<PastStep, void, undefined> {
  store.log.writeMarks();
  // A mark is never in an older segment than its step.
  const marks = new Marks();
  for (const segment of store.log.segments().reverse()) {
    const records = store.log.read(segment);
    for (const record of records) marks.take(record);
    for (const record of records.reverse()) if ('kind' in record) yield marks.of(record);
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
