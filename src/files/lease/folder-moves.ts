import { setTimeout as sleep } from 'node:timers/promises';
import { RingfenceError } from '../../errors.ts';
import { cancellableSleep } from '../../runtime/operation-context.ts';
import type { LeaseStore } from './lease-store.ts';
import { CACHED_MS } from './stamp.ts';

/** The key of the lease whose note names the last move. It is no key of a file, which begins with a number. */
const KEY = 'folder moves';
/** How long it takes at most to note a move: a server that dies meanwhile keeps others from it. */
const NOTE_MS = 1_000;
const RETRY_MS = 10;

/** Where moves are noted. `Leases` is one. */
interface Notes {
  readonly store: LeaseStore;
  /** Returns the last note of a key; undefined if there is none, or the store has been gone for seconds. */
  awaitNote(key: string, signal: AbortSignal): Promise<string | undefined>;
}

/**
 * The moves of folders, of which servers on several machines tell each other. A machine may show a folder for a while
 * where another one has moved it from, and what is written there by a path would go along with it.
 */
export class FolderMoves {
  readonly #notes: Notes;
  /** The last move that this process has made or heard of, and when this machine shows all of them. */
  #last: { readonly note: string | undefined; readonly shownAt: number } = { note: undefined, shownAt: 0 };

  constructor(notes: Notes) {
    this.#notes = notes;
  }

  /** Tells the other servers of a move. Does without if the store cannot be reached. */
  async tell(): Promise<void> {
    const { store } = this.#notes;
    for (const until = performance.now() + 2 * NOTE_MS; performance.now() < until; await sleep(RETRY_MS)) {
      const grant = await store.acquireLease(KEY, NOTE_MS).catch(unavailable);
      if (grant === undefined) return;
      if (!grant.granted) continue;
      const note = String(grant.token);
      // Otherwise another server has moved a folder since, and this one has to wait for that, too.
      if (grant.note === undefined || grant.note === this.#last.note) this.#last = { ...this.#last, note };
      await store.releaseLease(KEY, grant.token, note).catch(unavailable);
      return;
    }
  }

  /** Waits until this machine shows the moves of other servers. Raises the reason of an aborted signal. */
  async settle(signal: AbortSignal): Promise<void> {
    const note = await this.#notes.awaitNote(KEY, signal);
    if (note !== undefined && note !== this.#last.note) this.#last = { note, shownAt: performance.now() + CACHED_MS };
    const left = this.#last.shownAt - performance.now();
    if (left > 0) await cancellableSleep(left, signal);
  }
}

/** Goes on without the store. */
function unavailable(error: unknown): undefined {
  if (!(error instanceof RingfenceError)) throw error;
}
