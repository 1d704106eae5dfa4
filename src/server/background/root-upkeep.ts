import type { Root } from '../../fence/index.ts';
import type { FreshRoot } from '../call/roots/served-roots.ts';
import type { SharedService } from '../call/service.ts';
import { limitHistory } from './limit-histories.ts';
import { sweepInBackground, undoTornAppends } from './sweep-in-background.ts';

/** Looks after the roots that are served: what killed processes left in them, and the limits of their histories. */
export class RootUpkeep {
  readonly #service: Pick<SharedService, 'logger'>;
  readonly #stopping = new Map<Root, AbortController>();

  constructor(service: Pick<SharedService, 'logger'>) {
    this.#service = service;
  }

  /** Makes roots ready for their first call. */
  async makeReady(roots: readonly FreshRoot[]): Promise<void> {
    await undoTornAppends(this.#service, newFolders(roots));
  }

  /** Begins to work on roots in the background. */
  start(roots: readonly FreshRoot[]): void {
    for (const { named } of roots) {
      const stopping = new AbortController();
      this.#stopping.set(named.root, stopping);
      limitHistory(this.#service, named.root, stopping.signal);
    }
    const swept = newFolders(roots).map((named) => ({ named, signal: this.#signalOf(named.root) }));
    if (swept.length > 0) sweepInBackground(this.#service, swept);
  }

  /** Ends the work on a root. */
  stop(root: Root): void {
    this.#stopping.get(root)?.abort();
    this.#stopping.delete(root);
  }

  /** Ends the work on all roots. */
  stopAll(): void {
    for (const root of [...this.#stopping.keys()]) this.stop(root);
  }

  #signalOf(root: Root): AbortSignal {
    return (this.#stopping.get(root) as AbortController).signal;
  }
}

function newFolders(roots: readonly FreshRoot[]) {
  return roots.flatMap(({ named, isNewFolder }) => (isNewFolder ? [named] : []));
}
