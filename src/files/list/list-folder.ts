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
import { byCodePoint, hasSurrogates } from '../../runtime/code-point-order.ts';
import { cooperativeSort } from '../../runtime/cooperative-sort.ts';
import { DEFAULT_CONTEXT, type OperationContext, yieldPoint } from '../../runtime/operation-context.ts';
import { isBrokenLinkError } from '../broken-link.ts';
import { STEP_ENTRIES, StatBatch } from './stat-batch.ts';
import type { StatThread } from './stat-thread.ts';

/** So many are worth another thread's time. */
const MANY = 512;

/** Where a link leads: `external` is outside the root, `missing` is nowhere or round in a circle. */
export type TargetType = 'file' | 'directory' | 'other' | 'external' | 'missing';

/** What a listing shows of an entry besides its name. */
export interface EntryFacts {
  readonly type: EntryType;
  readonly size: number;
  /** In whole milliseconds, rounded as Node rounds the times of `stats`, so that every tool tells the same. */
  readonly modifiedMs: number;
  readonly targetType?: TargetType;
}

export interface FolderEntry extends EntryFacts {
  readonly name: string;
}

export interface ListOptions {
  /** How many entries are told about. */
  readonly maxEntries: number;
  /** Helps with large folders. */
  readonly statThread?: StatThread | undefined;
  /** Called with one after the other. */
  onEntry(name: string, facts: EntryFacts): void;
}

/** The direct children of a folder, hidden ones too, by code point. An entry that vanishes meanwhile is left out. */
export async function listFolder(
  root: Root,
  path: CallerPath,
  context: OperationContext = DEFAULT_CONTEXT,
): Promise<FolderEntry[]> {
  const entries: FolderEntry[] = [];
  const onEntry = (name: string, facts: EntryFacts): void => void entries.push({ name, ...facts });
  await listEntries(root, path, { maxEntries: Number.POSITIVE_INFINITY, onEntry }, context);
  return entries;
}

/** Tells about at most so many of them, the first ones, and returns how many there are. The others are not looked at. */
export async function listEntries(
  root: Root,
  path: CallerPath,
  { maxEntries, statThread, onEntry }: ListOptions,
  context: OperationContext,
): Promise<number> {
  return withLocation(root, path, async () => {
    using dir = root.openDir(path);
    const pause = yieldPoint(context);
    const names = await sortedNames(dir, pause);
    let reported = 0;
    let seen = 0;
    while (seen < names.length && reported < maxEntries) {
      const next = names.slice(seen, seen + maxEntries - reported);
      const batch = StatBatch.of(next);
      using help = next.length >= MANY ? statThread?.help(root, dir, batch) : undefined;
      for (let step = 0; step < batch.steps; step += 1) {
        const wait = pause();
        if (wait !== undefined) await wait;
        if (help !== undefined) await help.done(step, context.signal);
        reported += reportStep({ root, path, dir, names: next, batch, onEntry }, step);
      }
      seen += next.length;
    }
    return names.length - seen + reported;
  });
}

interface ListingStep extends Pick<ListOptions, 'onEntry'> {
  readonly root: Root;
  readonly path: CallerPath;
  readonly dir: Dir;
  readonly names: readonly Name[];
  readonly batch: StatBatch;
}

/** Tells about the entries of one step, and looks at those first that nobody has seen. Returns how many it told about. */
function reportStep({ root, path, dir, names, batch, onEntry }: ListingStep, step: number): number {
  const end = Math.min((step + 1) * STEP_ENTRIES, names.length);
  let reported = 0;
  for (let at = step * STEP_ENTRIES; at < end; at += 1) {
    const raw = names[at] as Name;
    const type = batch.type(at) ?? batch.stat(at, raw, dir);
    if (type === undefined) continue;
    const name = shown(raw);
    const size = batch.size(at);
    const modifiedMs = Math.round(batch.mtimeMs(at));
    if (type !== 'symlink') onEntry(name, { type, size, modifiedMs });
    else onEntry(name, { type, size, modifiedMs, targetType: targetType(root, path, name) });
    reported += 1;
  }
  return reported;
}

/** The names of the direct children alone, in the same order. */
export async function folderNames(root: Root, path: CallerPath, context: OperationContext): Promise<string[]> {
  return withLocation(root, path, async () => {
    using dir = root.openDir(path);
    return (await sortedNames(dir, yieldPoint(context))).map(shown);
  });
}

async function sortedNames(dir: Dir, pause: () => Promise<void> | undefined): Promise<Name[]> {
  const names: Name[] = [];
  let plain = true;
  for (const entries of dir.listBatches()) {
    plain = addNames(entries, names) && plain;
    const wait = names.length < MANY ? undefined : pause();
    if (wait !== undefined) await wait;
  }
  // The order of UTF-16 units, which is that of code points where there are no surrogates, is the one the engine knows best.
  return cooperativeSort(names, { compare: plain ? undefined : byShownName, pause });
}

/** Tells whether there was nothing but texts without surrogates. */
function addNames(entries: readonly Entry[], names: Name[]): boolean {
  let plain = true;
  for (const { raw } of entries) {
    names.push(raw);
    if (plain && (typeof raw !== 'string' || hasSurrogates(raw))) plain = false;
  }
  return plain;
}

const shown = (name: Name): string => (typeof name === 'string' ? name : name.toString());
const byShownName = (a: Name, b: Name): number => byCodePoint(shown(a), shown(b));

/** What a link leads to, without opening it. */
function targetType(root: Root, folder: CallerPath, link: string): TargetType {
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
