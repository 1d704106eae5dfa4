import { collectDefaultMetrics, Registry } from 'prom-client';
import type { CallObserver } from '../../audit/record-call.ts';
import { CallMetrics } from './call-metrics.ts';
import { HistoryMetrics } from './history-metrics.ts';
import { type MetricsSource, ServerMetrics } from './server-metrics.ts';

/** The metrics of one server in the text format of Prometheus, with those of its process. */
export class Metrics {
  readonly registry = new Registry();
  /** Counts a finished call. */
  readonly observe: CallObserver;
  readonly #server: ServerMetrics;
  readonly #history: HistoryMetrics;
  #writing: Promise<string> | undefined;

  /** `worker` is the number of this process, if it is one of several on one port: then it is a label of every metric. */
  constructor(worker?: number) {
    if (worker !== undefined) this.registry.setDefaultLabels({ worker });
    this.observe = new CallMetrics(this.registry).observe;
    this.#server = new ServerMetrics(this.registry);
    this.#history = new HistoryMetrics(this.registry);
    collectDefaultMetrics({ register: this.registry });
  }

  /** Returns all metrics. Those who ask at once get the same answer, so that many cost no more than one. */
  text(source: MetricsSource): Promise<string> {
    this.#writing ??= this.#write(source).finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  async #write(source: MetricsSource): Promise<string> {
    this.#server.collect(source);
    await this.#history.collect(source.shared.roots);
    return this.registry.metrics();
  }
}
