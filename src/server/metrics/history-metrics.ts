import { Gauge, type Registry } from 'prom-client';
import type { Root } from '../../fence/index.ts';
import { type History, historyOf } from '../../history/index.ts';
import { type HistoryStatistics, historyStatistics } from '../../history/limits/statistics.ts';
import { atMost } from '../../runtime/at-most.ts';
import { backgroundPacer } from '../../runtime/background-pacer.ts';
import type { Roots } from '../../tools/roots.ts';

/** How long an answer waits for figures. If they take longer, it has those of the time before. */
const WAIT_MS = 1_000;

/** Reports what the histories of roots hold. It is counted when somebody asks, and not again while nothing changes. */
export class HistoryMetrics {
  readonly #gauges: readonly (readonly [Gauge, (statistics: HistoryStatistics) => number])[];
  readonly #counts = new Map<Root, HistoryCount>();

  constructor(registry: Registry) {
    const gauge = (name: string, help: string): Gauge =>
      new Gauge({ name: `ringfence_history_${name}`, help, labelNames: ['root'], registers: [registry] });
    this.#gauges = [
      [gauge('changes', 'Changes that the history of a root holds.'), ({ changes }) => changes],
      [gauge('kept_files', 'Files that the history of a root keeps.'), ({ keptFiles }) => keptFiles],
      [gauge('kept_bytes', 'Bytes of replaced and removed content that is kept.'), ({ keptBytes }) => keptBytes],
      [gauge('max_bytes', 'Bytes that may be kept: max_bytes of the config.'), ({ limits }) => limits.maxBytes],
      [gauge('log_bytes', 'Size of the log of changes.'), ({ logBytes }) => logBytes],
    ];
  }

  /** Counts what changed since the last time, and sets the gauges. Never rejects. */
  async collect(roots: Roots): Promise<void> {
    await Promise.all(
      roots.all().map(async ({ kind, root }) => {
        const history = kind === 'agent' ? undefined : historyOf(root);
        if (kind === 'agent' || history === undefined) return;
        const count = this.#counts.get(root) ?? new HistoryCount(history);
        this.#counts.set(root, count);
        const statistics = await count.latest();
        if (statistics === undefined) return;
        for (const [gauge, value] of this.#gauges) gauge.set({ root: root.name }, value(statistics));
      }),
    );
  }
}

/** The latest figures of one history. */
class HistoryCount {
  readonly #history: History;
  #state: string | undefined;
  #counting: Promise<void> | undefined;
  #latest: HistoryStatistics | undefined;

  constructor(history: History) {
    this.#history = history;
  }

  /** Returns what a history holds; undefined while it was never counted, or cannot be. */
  async latest(): Promise<HistoryStatistics | undefined> {
    this.#counting ??= this.#count().finally(() => {
      this.#counting = undefined;
    });
    await atMost(WAIT_MS, this.#counting);
    return this.#latest;
  }

  async #count(): Promise<void> {
    try {
      const state = this.#history.log.fingerprint();
      if (state === this.#state) return;
      this.#latest = await historyStatistics(this.#history, backgroundPacer(new AbortController().signal));
      this.#state = state;
    } catch {
      // What keeps a history from being read is in the log, by whoever wants to write or limit it.
    }
  }
}
