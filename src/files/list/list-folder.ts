import {
  type CallerPath,
  type Dir,
  type Entry,
  type EntryType,
  entryTypeOf,
  isFenceError,
  type Name,
  type Root,
  withLocation,
} from '../../fence/index.ts';
import { cooperativeSort } from '../../runtime/cooperative-sort.ts';
import { DEFAULT_CONTEXT, type OperationContext, yieldPoint } from '../../runtime/operation-context.ts';
import { byCodePoint, hasSurrogates } from '../../runtime/unicode.ts';
import { isBrokenLinkError } from '../links.ts';
import { STEP_ENTRIES, StatBatch } from './stat-batch.ts';
import type { StatThread } from './stat-thread.ts';

/** The number of entries from which a second thread pays off. */
const MIN_SHARED_ENTRIES = 512;

/**
 * What a link leads to: `external` is outside the root, `missing` is a dangling link, a loop, or a link that no path
 * can name because its name is not UTF-8.
 */
export type TargetType = 'file' | 'directory' | 'other' | 'external' | 'missing';

/** What a listing shows of an entry, besides its name. */
export interface EntryInfo {
  readonly type: EntryType;
  /** In bytes. */
  readonly size: number;
  /** In whole milliseconds, rounded as Node rounds `Stats.mtime`, so that all tools report the same time. */
  readonly modifiedMs: number;
  /** Only for a link. */
  readonly targetType?: TargetType;
}

/** An entry of a folder, with its name. */
export interface FolderEntry extends EntryInfo {
  readonly name: string;
}

/** Options of `listEntries`. */
export interface ListOptions {
  /** The most entries to report. */
  readonly maxEntries: number;
  /** How many entries to leave out before the first one to report; by default none. They are not statted. */
  readonly offset?: number;
  /** A second thread to stat the entries of large folders. */
  readonly statThread?: StatThread | undefined;
  /** Called for each entry, in order. Returns false to stop; the entry then does not count as reported. */
  onEntry(name: string, info: EntryInfo): boolean;
}

/**
 * Lists the direct children of a folder, hidden ones included, sorted by code point. An entry that is removed meanwhile
 * is left out. Raises what `Root.openDir` raises, and the reason of an aborted signal.
 */
export async function listFolder(
  root: Root,
  path: CallerPath,
  context: OperationContext = DEFAULT_CONTEXT,
): Promise<FolderEntry[]> {
  const entries: FolderEntry[] = [];
  const onEntry = (name: string, info: EntryInfo): boolean => entries.push({ name, ...info }) > 0;
  await listEntries(root, path, { maxEntries: Number.POSITIVE_INFINITY, onEntry }, context);
  return entries;
}

/**
 * Reports `maxEntries` children of a folder from `offset` on, sorted by code point, and returns how many children there
 * are. The others are not statted. Raises what `Root.openDir` raises, and the reason of an aborted signal.
 */
export async function listEntries(
  root: Root,
  path: CallerPath,
  { maxEntries, offset = 0, statThread, onEntry }: ListOptions,
  context: OperationContext,
): Promise<number> {
  return withLocation(root, path, async () => {
    using dir = root.openDir(path);
    const pause = yieldPoint(context);
    const names = await sortedNames(dir, pause);
    let reported = 0;
    let missing = 0;
    let seen = Math.min(offset, names.length);
    let isWanted = true;
    while (isWanted && seen < names.length && reported < maxEntries) {
      const next = names.slice(seen, seen + maxEntries - reported);
      const batch = StatBatch.of(next);
      using help = next.length >= MIN_SHARED_ENTRIES ? statThread?.help(root, dir, batch) : undefined;
      for (let step = 0; step < batch.steps; step += 1) {
        const wait = pause();
        if (wait !== undefined) await wait;
        if (help !== undefined) await help.claimOrWait(step, context.signal);
        const done = reportStep({ root, path, dir, names: next, batch, onEntry }, step);
        reported += done.reported;
        missing += done.missing;
        isWanted = done.isWanted;
        if (!isWanted) break;
      }
      seen += next.length;
    }
    return names.length - missing;
  });
}

interface ListingStep extends Pick<ListOptions, 'onEntry'> {
  readonly root: Root;
  readonly path: CallerPath;
  readonly dir: Dir;
  readonly names: readonly Name[];
  readonly batch: StatBatch;
}

/** Reports the entries of one step, after statting those that the second thread did not. */
function reportStep({ root, path, dir, names, batch, onEntry }: ListingStep, step: number) {
  const end = Math.min((step + 1) * STEP_ENTRIES, names.length);
  let reported = 0;
  let missing = 0;
  for (let at = step * STEP_ENTRIES; at < end; at += 1) {
    const raw = names[at] as Name;
    const type = batch.type(at) ?? batch.stat(at, raw, dir);
    if (type === undefined) {
      missing += 1;
      continue;
    }
    const name = displayName(raw);
    const info = { type, size: batch.size(at), modifiedMs: Math.round(batch.mtimeMs(at)) };
    const isWanted = onEntry(name, type === 'symlink' ? { ...info, targetType: targetType(root, path, raw) } : info);
    if (!isWanted) return { reported, missing, isWanted };
    reported += 1;
  }
  return { reported, missing, isWanted: true };
}

/** Lists the names of a folder's direct children, sorted by code point. Raises what `Root.openDir` raises. */
export async function folderNames(root: Root, path: CallerPath, context: OperationContext): Promise<string[]> {
  return withLocation(root, path, async () => {
    using dir = root.openDir(path);
    return (await sortedNames(dir, yieldPoint(context))).map(displayName);
  });
}

async function sortedNames(dir: Dir, pause: () => Promise<void> | undefined): Promise<Name[]> {
  const names: Name[] = [];
  let bmpOnly = true;
  for (const entries of dir.listBatches()) {
    bmpOnly = addNames(entries, names) && bmpOnly;
    const wait = names.length < MIN_SHARED_ENTRIES ? undefined : pause();
    if (wait !== undefined) await wait;
  }
  // Without surrogates, code point order is UTF-16 order, which the engine sorts by without a comparison function.
  return cooperativeSort(names, { compare: bmpOnly ? undefined : byDisplayName, pause });
}

/** Collects names, and reports whether all of them are strings without surrogates. */
function addNames(entries: readonly Entry[], names: Name[]): boolean {
  let bmpOnly = true;
  for (const { raw } of entries) {
    names.push(raw);
    if (bmpOnly && (typeof raw !== 'string' || hasSurrogates(raw))) bmpOnly = false;
  }
  return bmpOnly;
}

const displayName = (name: Name): string => (typeof name === 'string' ? name : name.toString());
const byDisplayName = (a: Name, b: Name): number => byCodePoint(displayName(a), displayName(b));

/** Returns what a link leads to, without opening it. */
function targetType(root: Root, folder: CallerPath, link: Name): TargetType {
  // A path is text. The display name, with U+FFFD for each bad byte, may be the name of another entry.
  if (typeof link !== 'string') return 'missing';
  try {
    using target = root.locate({ raw: link, segments: [...folder.segments, link] }, { follow: true });
    if (target.stats === undefined) return 'missing';
    const type = entryTypeOf(target.stats);
    return type === 'symlink' ? 'missing' : type;
  } catch (error) {
    if (isFenceError(error, 'outside_root')) return 'external';
    if (isBrokenLinkError(error)) return 'missing';
    throw error;
  }
}
