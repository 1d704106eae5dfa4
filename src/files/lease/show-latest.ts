import { setTimeout as sleep } from 'node:timers/promises';
import type { CallerPath, Root } from '../../fence/index.ts';
import { throwIfAborted } from '../../runtime/operation-context.ts';
import { locateIfPresent } from '../locate-if-present.ts';
import { keyOf } from './lease-key.ts';
import { type Leases, leasesOf } from './leases.ts';
import { CACHED_MS, isLatest, refreshed } from './see-latest.ts';

const RETRY_MS = 20;

/**
 * Waits until this machine shows a file as the last holder of its lease has left it, so that a client reads at one
 * replica what it has written at another: a machine shows what others have replaced for a second or so. Returns
 * undefined where no other machine changes the files of the root.
 *
 * A file is shown as it is if nobody has changed it under a lease lately, if somebody is changing it now, if the store
 * cannot be asked, and if it still differs after all caches have expired, because another program has changed it. Raises
 * what `Root.locate` raises, and the reason of an aborted signal.
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
  const note = await leases.noteOf(key);
  if (!note || leases.isOverruled(key, note)) return;
  const deadline = performance.now() + CACHED_MS;
  const shown = location.stats?.ino;
  for (let now = location.stats; !isLatest(now, note); now = refreshed(location)) {
    // What was looked up anew is not older than the note, which is from before.
    if (now?.ino !== shown) return;
    if (performance.now() > deadline) return leases.overrule(key, note);
    await sleep(RETRY_MS);
    throwIfAborted(signal);
  }
}
