import type { ClientFigures } from '../../audit/activity.ts';
import type { SharedStore } from '../../cluster/shared-store.ts';
import type { SharedService } from '../call/service.ts';

const INTERVAL_MS = 5 * 60_000;
/** How long a client must do nothing at any replica until its figures begin anew. */
const KEEP_MS = 24 * 60 * 60_000;

/** Logs the activity of clients on demand, besides the regular reports. */
export interface ActivityReport {
  /** Logs the figures of every known client. */
  all(): void;
  /** Logs a last report and stops. */
  stop(): Promise<void>;
}

/**
 * Logs every five minutes, and at the end, the figures of the clients that were active since the last report. Where
 * there are replicas, they add up their figures, and each line also has those of all.
 */
export function reportActivity(service: Pick<SharedService, 'activity' | 'logger' | 'store'>): ActivityReport {
  const { activity, logger, store } = service;
  const totals = store && new ReplicaTotals(store);
  const log = ({ client, calls, errors, violations, deniedPaths, peakCalls }: ClientFigures, all?: Totals): void => {
    const figures = { client, calls, errors, violations, denied_paths: deniedPaths, peak_calls_10s: peakCalls };
    logger.info(all === undefined ? figures : { ...figures, all_replicas: all }, 'client activity');
  };
  const news = async (): Promise<void> => {
    const changed = activity?.takeChangedFigures() ?? [];
    totals?.forgetOthers(activity?.figures() ?? []);
    // Not one after another: each may wait for a store that does not answer.
    await Promise.all(changed.map(async (figures) => log(figures, await totals?.add(figures).catch(() => undefined))));
  };
  const timer = setInterval(() => void news(), INTERVAL_MS).unref();
  return {
    all: () => {
      for (const figures of activity?.figures() ?? []) log(figures);
    },
    stop: () => {
      clearInterval(timer);
      return news();
    },
  };
}

const SUMMED = ['calls', 'errors', 'violations'] as const;
type Totals = Record<(typeof SUMMED)[number], number>;

/** Adds up the figures of clients over all replicas. */
class ReplicaTotals {
  readonly #store: SharedStore;
  /** What was added for each client that is remembered here. */
  readonly #added = new Map<string, Totals>();

  constructor(store: SharedStore) {
    this.#store = store;
  }

  /** Forgets what was added for clients that are not among these. They begin anew when they come back. */
  forgetOthers(known: readonly ClientFigures[]): void {
    const names = new Set(known.map(({ client }) => client));
    for (const client of this.#added.keys()) if (!names.has(client)) this.#added.delete(client);
  }

  /** Adds what is new in the figures of a client, and returns those of all replicas. Raises `StoreUnavailable`. */
  async add(figures: ClientFigures): Promise<Totals> {
    const { client } = figures;
    const added = this.#added.get(client) ?? { calls: 0, errors: 0, violations: 0 };
    this.#added.set(client, added);
    const sums = await Promise.all(
      SUMMED.map(async (name) => {
        // A client that was forgotten and came back begins anew.
        const more = figures[name] < added[name] ? figures[name] : figures[name] - added[name];
        const sum = await this.#store.increment(`activity:${name}:${client}`, more, KEEP_MS);
        added[name] = figures[name];
        return [name, sum] as const;
      }),
    );
    return Object.fromEntries(sums) as Totals;
  }
}
