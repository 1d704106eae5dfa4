import { printable } from '../../runtime/printable.ts';
import { formatSize } from '../../wire/format-size.ts';
import { formatDuration, type LogFields } from '../terminal/log-line.ts';
import type { Output } from '../terminal/output.ts';
import { tableLines } from '../terminal/table.ts';

/** Buckets grow by 5 % each, so a percentile is at most that far off, however many calls there are. */
const GROWTH = Math.log(1.05);
const SMALLEST_MS = 0.001;
const MAX_NAMES = 1_000;
const OTHERS = '(others)';
const TOP_CODES = 10;

/** Counts the calls of a log by tool, client and error code, in constant memory. */
export class LogSummary {
  readonly #tools = new Map<string, Figures>();
  readonly #clients = new Map<string, Figures>();
  readonly #codes = new Map<string, number>();
  readonly #all = new Figures();

  /** Counts a finished call. */
  add(fields: LogFields): void {
    this.#all.add(fields);
    entryOf(this.#tools, String(fields.tool), () => new Figures()).add(fields);
    entryOf(this.#clients, String(fields.client ?? '-'), () => new Figures()).add(fields);
    if (fields.outcome !== 'error') return;
    const code = boundedName(this.#codes, String(fields.code ?? 'error'));
    this.#codes.set(code, (this.#codes.get(code) ?? 0) + 1);
  }

  /** Returns the figures for programs. */
  json(): object {
    return {
      ...this.#all.json(),
      tools: byCalls(this.#tools).map(([tool, figures]) => ({ tool, ...figures.json() })),
      clients: byCalls(this.#clients).map(([client, figures]) => ({ client, ...figures.json() })),
      codes: this.#topCodes().map(([code, count]) => ({ code, count })),
    };
  }

  /** Prints the figures as tables. */
  show(output: Output): void {
    if (this.#all.calls === 0) {
      output.line('no calls');
      return;
    }
    const tables = [
      figuresTable('tool', [...byCalls(this.#tools), ['all', this.#all]]),
      figuresTable('client', byCalls(this.#clients)),
    ];
    const codes = this.#topCodes();
    if (codes.length > 0) {
      tables.push(
        tableLines([['error', 'calls'], ...codes.map(([code, count]) => [printable(code), String(count)])], [1]),
      );
    }
    for (const [at, [head = '', ...rows]] of tables.entries()) {
      if (at > 0) output.line();
      output.line(output.style('bold', head));
      for (const row of rows) output.line(row);
    }
  }

  #topCodes(): [string, number][] {
    return [...this.#codes].sort(([, a], [, b]) => b - a).slice(0, TOP_CODES);
  }
}

class Figures {
  calls = 0;
  errors = 0;
  bytes = 0;
  #maxMs = 0;
  readonly #buckets = new Map<number, number>();

  add({ outcome, duration_ms: ms, response_bytes: bytes }: LogFields): void {
    this.calls += 1;
    if (outcome === 'error') this.errors += 1;
    if (typeof bytes === 'number') this.bytes += bytes;
    const taken = typeof ms === 'number' ? ms : 0;
    this.#maxMs = Math.max(this.#maxMs, taken);
    const bucket = Math.ceil(Math.log(Math.max(taken, SMALLEST_MS) / SMALLEST_MS) / GROWTH);
    this.#buckets.set(bucket, (this.#buckets.get(bucket) ?? 0) + 1);
  }

  json() {
    const { calls, errors, bytes } = this;
    return { calls, errors, p50_ms: this.#percentile(0.5), p95_ms: this.#percentile(0.95), max_ms: this.#maxMs, bytes };
  }

  #percentile(share: number): number {
    let left = Math.ceil(this.calls * share);
    for (const [bucket, count] of [...this.#buckets].sort(([a], [b]) => a - b)) {
      left -= count;
      if (left <= 0) return Math.min(Number((SMALLEST_MS * Math.exp(bucket * GROWTH)).toPrecision(3)), this.#maxMs);
    }
    return this.#maxMs;
  }
}

function figuresTable(name: string, rows: readonly (readonly [string, Figures])[]): string[] {
  const cells = rows.map(([key, figures]) => {
    const { calls, errors, p50_ms, p95_ms, max_ms, bytes } = figures.json();
    const times = [p50_ms, p95_ms, max_ms].map(formatDuration);
    return [printable(key), String(calls), String(errors), ...times, formatSize(bytes, 'short')];
  });
  return tableLines([[name, 'calls', 'errors', 'p50', 'p95', 'max', 'bytes'], ...cells], [1, 2, 3, 4, 5, 6]);
}

function byCalls(figures: ReadonlyMap<string, Figures>): [string, Figures][] {
  return [...figures].sort(([, a], [, b]) => b.calls - a.calls);
}

/** Names come from the log, so that their number has a limit. */
function boundedName(known: ReadonlyMap<string, unknown>, name: string): string {
  return known.has(name) || known.size < MAX_NAMES ? name : OTHERS;
}

function entryOf<T>(map: Map<string, T>, name: string, make: () => T): T {
  const key = boundedName(map, name);
  let entry = map.get(key);
  if (entry === undefined) {
    entry = make();
    map.set(key, entry);
  }
  return entry;
}
