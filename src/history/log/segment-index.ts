import { decodeLine, encodeLine, fnv1a } from './log-line.ts';
import { isLogRecord } from './record-check.ts';
import { type LogRecord, type Step, stepKey } from './step.ts';

/** A record that says something about a step. */
type Mark = Exclude<LogRecord, Step>;

/** What is to be known about a segment of the log without reading it. */
interface SegmentSummary {
  /** How many bytes of the segment this is about. What was appended since is not covered. */
  readonly covers: number;
  /** How many steps were logged and not cancelled, and how many changes began with them. */
  readonly steps: number;
  readonly changes: number;
  /** When the first and the last step was logged. 0 without any. */
  readonly first: number;
  readonly last: number;
  /** The marks of steps that are in older segments. */
  readonly marks: readonly Mark[];
  /** The keys of steps that have no mark in this segment. Their process was killed, or the mark is in a newer one. */
  readonly unmarked: readonly string[];
  /** How many hashes of paths follow, and their sum, by which a file is recognised that was not written to its end. */
  readonly paths: number;
  readonly sum: number;
}

const HASH_BYTES = 4;
const LINE_BREAK = 10;

/**
 * The index of a segment that is no longer written to: its totals, and sorted hashes of every path in it and of all
 * folders above each. By that, a reader who looks for a path skips the segments that have nothing about it.
 */
export class SegmentIndex {
  readonly summary: SegmentSummary;
  readonly #hashes: Uint32Array;

  /** @internal */
  constructor(summary: SegmentSummary, hashes: Uint32Array) {
    this.summary = summary;
    this.#hashes = hashes;
  }

  /** Makes the index of records, oldest first, that are in the first bytes of a segment. */
  static of(records: Iterable<LogRecord>, covers: number): SegmentIndex {
    const builder = new SegmentIndexBuilder();
    for (const record of records) builder.add(record);
    return builder.build(covers);
  }

  /** Reads what `encode` has written. Undefined if that is not whole. */
  static decode(bytes: Buffer): SegmentIndex | undefined {
    const end = bytes.indexOf(LINE_BREAK, 1);
    const summary = end < 0 ? undefined : decodeLine(bytes.toString('utf8', 1, end), isSummary);
    if (summary === undefined || bytes.length !== end + 1 + summary.paths * HASH_BYTES) return undefined;
    const hashes = new Uint32Array(summary.paths);
    Buffer.from(hashes.buffer).set(bytes.subarray(end + 1));
    return sumOf(hashes) === summary.sum ? new SegmentIndex(summary, hashes) : undefined;
  }

  /** Returns the content of the index file: a line with the summary, and the hashes. */
  encode(): Buffer {
    return Buffer.concat([Buffer.from(`${encodeLine(this.summary)}\n`), Buffer.from(this.#hashes.buffer)]);
  }

  /** Reports whether the segment may have steps at a path or below it. True may be wrong, false never is. */
  mayHave(path: string): boolean {
    const wanted = fnv1a(path);
    let [low, high] = [0, this.#hashes.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#hashes[middle] as number) < wanted) low = middle + 1;
      else high = middle;
    }
    return this.#hashes[low] === wanted;
  }
}

/** Makes the index of a segment, one record at a time. */
export class SegmentIndexBuilder {
  readonly #steps = new Set<string>();
  readonly #cancelled = new Set<string>();
  readonly #unmarked = new Set<string>();
  readonly #marks: Mark[] = [];
  /** The changes that began in this segment, by how many of their steps were not cancelled. */
  readonly #changes = new Map<string, number>();
  readonly #hashes = new Set<number>();
  #lastPath = '';
  #first = Number.POSITIVE_INFINITY;
  #last = 0;

  /** Adds a record. A step comes before its marks. */
  add(record: LogRecord): void {
    if ('kind' in record) this.#addStep(record);
    else this.#addMark(record);
  }

  /** Returns the index of what was added, which is in that many bytes. */
  build(covers: number): SegmentIndex {
    const hashes = Uint32Array.from(this.#hashes).sort();
    const summary: SegmentSummary = {
      covers,
      steps: this.#steps.size - this.#cancelled.size,
      changes: [...this.#changes.values()].filter((steps) => steps > 0).length,
      first: Number.isFinite(this.#first) ? this.#first : 0,
      last: this.#last,
      marks: this.#marks,
      unmarked: [...this.#unmarked],
      paths: hashes.length,
      sum: sumOf(hashes),
    };
    return new SegmentIndex(summary, hashes);
  }

  #addStep(step: Step): void {
    const key = stepKey(step);
    this.#steps.add(key);
    this.#unmarked.add(key);
    this.#count(step.change, step.number === 0 ? 0 : undefined, 1);
    this.#first = Math.min(this.#first, step.time);
    this.#last = Math.max(this.#last, step.time);
    this.#addPath(step.path);
    if (step.to !== undefined) this.#addPath(step.to);
  }

  #addMark(mark: Mark): void {
    const key = markedKey(mark);
    if (!this.#steps.has(key)) this.#marks.push(mark);
    else if (!('counted' in mark)) this.#unmarked.delete(key);
    if (!('cancelled' in mark) || !this.#steps.has(key) || this.#cancelled.has(key)) return;
    this.#cancelled.add(key);
    this.#count(key.slice(0, key.indexOf('.')), undefined, -1);
  }

  #count(change: string, from: number | undefined, more: number): void {
    const steps = this.#changes.get(change) ?? from;
    if (steps !== undefined) this.#changes.set(change, steps + more);
  }

  #addPath(path: string): void {
    if (path === this.#lastPath) return;
    this.#lastPath = path;
    let hash: number | undefined;
    for (const name of path.split('/')) {
      hash = hash === undefined ? fnv1a(name) : fnv1a(`/${name}`, hash);
      this.#hashes.add(hash);
    }
  }
}

/** Returns the key of the step that a mark is about. */
function markedKey(mark: Mark): string {
  if ('done' in mark) return mark.done;
  return 'cancelled' in mark ? mark.cancelled : mark.counted;
}

function sumOf(hashes: Uint32Array): number {
  let sum = 0;
  for (const hash of hashes) sum = (sum + hash) >>> 0;
  return sum;
}

function isSummary(value: unknown): value is SegmentSummary {
  if (typeof value !== 'object' || value === null) return false;
  const { covers, steps, changes, first, last, paths, sum, marks, unmarked } = value as Record<string, unknown>;
  return (
    [covers, steps, changes, first, last, paths, sum].every(Number.isFinite) &&
    Array.isArray(marks) &&
    marks.every((mark) => isLogRecord(mark) && !('kind' in mark)) &&
    Array.isArray(unmarked) &&
    unmarked.every((key) => typeof key === 'string')
  );
}
