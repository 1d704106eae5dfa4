import { Counter, Histogram, type Registry } from 'prom-client';
import type { CallEvent } from '../../audit/record-call.ts';

/** In seconds: a small read takes some tenths of a millisecond, a search of a large tree many seconds. */
const BUCKETS = [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** Stands for every tool that does not exist: its name is up to the client. */
const UNKNOWN_TOOL = 'unknown';

/** What is counted of one tool. */
interface ToolMetrics {
  readonly success: Counter.Internal;
  readonly error: Counter.Internal;
  readonly bytes: Counter.Internal;
  readonly seconds: Histogram.Internal<string>;
}

/** Counts the calls of all clients, by tool. All values of its labels are from the code, never from a client. */
export class CallMetrics {
  readonly #calls: Counter;
  readonly #errors: Counter;
  readonly #seconds: Histogram;
  readonly #bytes: Counter;
  /** By dialect and tool. Looking labels up takes longer than counting. */
  readonly #tools = new Map<string, Map<string, ToolMetrics>>();

  constructor(registry: Registry) {
    const registers = [registry];
    this.#calls = new Counter({
      name: 'ringfence_calls_total',
      help: 'Finished calls of tools. The outcome is success or error.',
      labelNames: ['tool', 'dialect', 'outcome'],
      registers,
    });
    this.#errors = new Counter({
      name: 'ringfence_call_errors_total',
      help: 'Failed calls by the code of the error, as in the log.',
      labelNames: ['tool', 'dialect', 'code'],
      registers,
    });
    this.#seconds = new Histogram({
      name: 'ringfence_call_duration_seconds',
      help: 'Time from the arrival of a call to its result, questions to the client included.',
      labelNames: ['tool', 'dialect'],
      buckets: BUCKETS,
      registers,
    });
    this.#bytes = new Counter({
      name: 'ringfence_response_bytes_total',
      help: 'Bytes of the results of calls.',
      labelNames: ['tool', 'dialect'],
      registers,
    });
  }

  /** Counts a finished call. */
  readonly observe = ({ tool: name, dialect, durationMs, responseBytes, failure }: CallEvent): void => {
    const tool = failure?.code === 'unknown_tool' ? UNKNOWN_TOOL : name;
    const metrics = this.#tools.get(dialect)?.get(tool) ?? this.#add(tool, dialect);
    metrics.seconds.observe(durationMs / 1000);
    metrics.bytes.inc(responseBytes);
    if (failure === undefined) {
      metrics.success.inc();
    } else {
      metrics.error.inc();
      this.#errors.inc({ tool, dialect, code: failure.code });
    }
  };

  #add(tool: string, dialect: string): ToolMetrics {
    const added = {
      success: this.#calls.labels({ tool, dialect, outcome: 'success' }),
      error: this.#calls.labels({ tool, dialect, outcome: 'error' }),
      bytes: this.#bytes.labels({ tool, dialect }),
      seconds: this.#seconds.labels({ tool, dialect }),
    };
    // Prometheus sees no growth in what was not there before.
    added.success.inc(0);
    added.error.inc(0);
    const tools = this.#tools.get(dialect) ?? new Map<string, ToolMetrics>();
    this.#tools.set(dialect, tools.set(tool, added));
    return added;
  }
}
