import { setTimeout as sleep } from 'node:timers/promises';
import type { CallerPath, Root } from '../../fence/index.ts';
import { throwIfAborted } from '../../runtime/operation-context.ts';
import { locateIfPresent } from '../locate-if-present.ts';
import { keyOf } from './lease-key.ts';
import { type Leases, leasesOf } from './leases.ts';
import { CACHED_MS, isLatest, refreshed } from './see-latest.ts';

const RETRY_MS = 20;
/** How often the note is looked at again, because its file may have been changed meanwhile. */
const NOTE_MS = 100;

/**
 * Waits until this machine shows a file as the last holder of its lease has left it, so that a client reads at one
 * replica what it has written at another: a machine shows what others have replaced for a second or so. Returns
 * undefined where no other machine changes the files of the root.
 *
 * A file is shown as it is if nobody has changed it under a lease lately, if the store cannot be asked, and if it still
 * differs after all caches have expired, because another program has changed it, or a holder died. Raises what
 * `Root.locate` raises, and the reason of an aborted signal.
 */
export function showLatest(root: Root, path: CallerPath, signal: AbortSignal): Promise<void> | undefined {
  const leases = leasesOf(root);
  return leases === undefined || root.top.isLocal() ? undefined : waitForLatest(leases, { root, path, signal });
}

async function waitForLatest(
  leases: Leases,
  { root, path, signal }: { readonly root: Root; readonly path: CallerPath; readonly signal: AbortSignal },
): Promise<void> {
  using location = locateIfPresent(root, path);
  if (location === undefined) return;
  const key = keyOf(location);
  const shown = location.stats?.ino;
  const started = performance.now();
  let now = location.stats;
  for (let note = await leases.noteOf(key); note && !leases.isOverruled(key, note); note = await leases.noteOf(key)) {
    for (const until = performance.now() + NOTE_MS; performance.now() < until; now = refreshed(location)) {
      // A file that was not shown at first was looked up since, so it is as new as the note of the beginning.
      if (isLatest(now, note) || now?.ino !== shown) return;
      await sleep(RETRY_MS);
      throwIfAborted(signal);
    }
    if (performance.now() - started > CACHED_MS) return leases.overrule(key, note);
  }
}
