import type { Call, Figures } from '../model/api-types.ts';

/** How many seconds are kept. */
const KEPT_SECONDS = 300;
/** How many durations of a tool are kept in one second. Of more, those that come later replace earlier ones. */
const MAX_SAMPLES = 1_000;

interface ToolSamples {
  calls: number;
  readonly durations: number[];
}

/** Counts calls by second and tool, for plots. */
export class SecondFigures {
  readonly #kept: Figures[] = [];
  readonly #tools = new Map<string, ToolSamples>();
  #calls = 0;
  #errors = 0;
  #violations = 0;

  /** The last seconds that are over, oldest first. */
  get kept(): readonly Figures[] {
    return this.#kept;
  }

  add({ tool, outcome, code, violation, duration_ms }: Omit<Call, 'id'>): void {
    this.#calls += 1;
    if (outcome === 'error') this.#errors += 1;
    if (violation) this.#violations += 1;
    // Clients choose the names of tools that there are not.
    const name = code === 'unknown_tool' ? 'unknown tool' : tool;
    let samples = this.#tools.get(name);
    if (samples === undefined) {
      samples = { calls: 0, durations: [] };
      this.#tools.set(name, samples);
    }
    samples.durations[samples.calls % MAX_SAMPLES] = duration_ms;
    samples.calls += 1;
  }

  /** Ends the second that ends at a time, and returns its figures. */
  endSecond(time: number): Figures {
    const tools: Record<string, Figures['tools'][string]> = {};
    for (const [name, { calls, durations }] of this.#tools) {
      durations.sort((a, b) => a - b);
      tools[name] = { calls, p50: percentile(durations, 0.5), p95: percentile(durations, 0.95) };
    }
    const figures = { time, calls: this.#calls, errors: this.#errors, violations: this.#violations, tools };
    this.#tools.clear();
    this.#calls = 0;
    this.#errors = 0;
    this.#violations = 0;
    this.#kept.push(figures);
    if (this.#kept.length > KEPT_SECONDS) this.#kept.shift();
    return figures;
  }
}

/** Returns the value that a part of the sorted values does not exceed (nearest rank). */
function percentile(sorted: readonly number[], part: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? 0;
}
