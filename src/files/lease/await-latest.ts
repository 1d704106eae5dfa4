import { type CallerPath, FenceError, type Location, type Root, type RootPath } from '../../fence/index.ts';
import { cancellableSleep } from '../../runtime/operation-context.ts';
import { locateIfPresent } from '../locate-if-present.ts';
import { keyOf } from './lease-key.ts';
import { type Leases, leasesOf } from './leases.ts';
import { isLatest, refreshed } from './see-latest.ts';
import { CACHED_MS, isMovedAway } from './stamp.ts';

const RETRY_MS = 20;
/** How often the note is looked at again, because its file may have been changed meanwhile. */
const NOTE_MS = 100;

/** Options of `awaitLatest`. */
interface AwaitOptions {
  readonly signal: AbortSignal;
  /** Wait for the file that a link leads to (the default), not for the link. */
  readonly follow?: boolean;
}

/**
 * Waits until this machine shows a file as the last holder of its lease has left it, so that a client finds at one
 * replica what it has written or removed at another: a machine shows what others have replaced for a second or so.
 * Returns undefined where no other machine changes the files of the root.
 *
 * A file is shown as it is if nobody has changed it under a lease lately, as the disks have it if the store cannot be
 * asked or could not be lately, and as it is if it still differs after all caches have expired, because another program has changed it, or a holder died. A path that cannot
 * be located is not waited for: whoever looks at it finds out. Raises `not_found` if what is still shown then was moved
 * away, and the reason of an aborted signal.
 */
export function awaitLatest(root: Root, path: CallerPath, options: AwaitOptions): Promise<void> | undefined {
  const leases = leasesOf(root);
  return leases?.isShared(root) ? waitForLatest(leases, { root, path }, options) : undefined;
}

async function waitForLatest(leases: Leases, place: RootPath, { signal, follow = true }: AwaitOptions): Promise<void> {
  using location = locate(place, follow);
  if (location === undefined) return;
  const key = keyOf(location);
  const shown = location.stats?.ino;
  const started = performance.now();
  let note = await leases.noteOf(key);
  // Without a note, asking the disks is the best that can be done.
  if (note === undefined && leases.mayLackNotes) refreshed(location);
  for (; note && !leases.isOverruled(key, note); note = await leases.noteOf(key)) {
    if (isLatest(location.stats, note)) return;
    for (const until = performance.now() + NOTE_MS; performance.now() < until; ) {
      const now = refreshed(location);
      // A file that was not shown at first was looked up since, so it is as new as the note of the beginning.
      if (isLatest(now, note) || now?.ino !== shown) return;
      await cancellableSleep(RETRY_MS, signal);
    }
    if (performance.now() - started <= CACHED_MS) continue;
    // While the file is read by its new name, this machine may go on showing it by the old one.
    if (isMovedAway(location.dir.lstat(location.name), note)) throw new FenceError('not_found', {});
    return leases.overrule(key, note);
  }
}

function locate({ root, path }: RootPath, follow: boolean): Location | undefined {
  try {
    return follow ? locateIfPresent(root, path) : root.locate(path, { follow: false });
  } catch (error) {
    if (error instanceof FenceError) return undefined;
    throw error;
  }
}
