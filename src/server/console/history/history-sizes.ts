import { type History, historyOf } from '../../../history/index.ts';
import { historyStatistics } from '../../../history/limits/statistics.ts';
import type { NamedRoot } from '../../../tools/roots.ts';
import type { RootState } from '../model/api-types.ts';

/** How long a size is good for. To find it out takes some reading. */
const FRESH_MS = 5_000;

/** Says how large histories are. */
export class HistorySizes {
  readonly #known = new WeakMap<History, { readonly at: number; readonly size: Promise<RootState['history']> }>();

  /** Returns the size of a root's history; null if it has none. */
  async of(named: NamedRoot): Promise<RootState['history']> {
    const history = named.kind === 'agent' ? undefined : historyOf(named.root);
    if (history === undefined) return null;
    const known = this.#known.get(history);
    if (known !== undefined && Date.now() - known.at < FRESH_MS) return known.size;
    const size = sizeOf(history);
    this.#known.set(history, { at: Date.now(), size });
    return size;
  }
}

async function sizeOf(history: History): Promise<RootState['history']> {
  const { changes, keptBytes, limits } = await historyStatistics(history);
  return { changes, kept_bytes: keptBytes, max_bytes: limits.maxBytes, keep_seconds: limits.keepMs / 1000 };
}
