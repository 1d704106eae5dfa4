import type { Root } from '../fence/index.ts';
import type { History } from '../history/index.ts';
import type { Caller } from '../runtime/operation-context.ts';

/** What to restore, and where. */
export interface RestoreOptions {
  /** From the top of the root. */
  readonly path: string;
  /** The moment, in milliseconds since 1970, or the id of a change: just before it. */
  readonly at: number | { readonly before: string };
  /** Another path for it; by default its own. */
  readonly to?: string | undefined;
  readonly caller: Caller;
  /** Flush to disk before returning. True by default. */
  readonly durable?: boolean;
}

/**
 * Puts a file, a link or a folder back as it was, as a copy, so that the history stays as it is. What is there now is
 * kept. Raises `no_past_entry` if there was none at that time.
 */
export async function restoreEntry(
  _history: History,
  _root: Root,
  _options: RestoreOptions,
): Promise<{ readonly change: string }> {
  throw new Error('not written yet');
}
