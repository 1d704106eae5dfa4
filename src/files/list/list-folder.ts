import { isCode } from '../../errors.ts';
import {
  type CallerPath,
  type Dir,
  type Entry,
  type EntryType,
  type Name,
  type Root,
  typeOf,
} from '../../fence/index.ts';
import { byCodePoint, hasSurrogates } from '../../runtime/code-point-order.ts';
import { sortInTurns } from '../../runtime/cooperative-sort.ts';
import { type Control, pacer } from '../../runtime/operation-context.ts';
import type { SearchPool } from '../../search/pool/search-pool.ts';
import { leadsNowhere } from '../broken-link.ts';
import { located } from '../located.ts';
import { LookAhead } from './parallel-stat.ts';
import { LookPart, STEP } from './stat-batch.ts';

/** So many are worth another thread's time. */
const MANY = 512;

/** Where a link leads: `external` is outside the root, `missing` is nowhere or round in a circle. */
type TargetType = 'file' | 'directory' | 'other' | 'external' | 'missing';

/** What a listing shows of an entry besides its name. */
export interface Facts {
  readonly type: EntryType;
  readonly size: number;
  /** In whole milliseconds, rounded as Node rounds the times of `stats`, so that every tool tells the same. */
  readonly modifiedMs: number;
  readonly targetType?: TargetType;
}

export interface FolderEntry extends Facts {
  readonly name: string;
}

export interface ListOptions {
  /** How many entries are told about. */
  readonly most: number;
  /** Threads that help with large folders. */
  readonly pool?: SearchPool | undefined;
  /** Called with one after the other. */
  tell(name: string, facts: Facts): void;
}

/** The direct children of a folder, hidden ones too, by code point. An entry that vanishes meanwhile is left out. */
export async function listFolder(root: Root, path: CallerPath, control: Control): Promise<FolderEntry[]> {
  const entries: FolderEntry[] = [];
  const tell = (name: string, facts: Facts): void => void entries.push({ name, ...facts });
  await listFirst(root, path, { most: Number.POSITIVE_INFINITY, tell }, control);
  return entries;
}

/** Tells about at most so many of them, the first ones, and returns how many there are. The others are not looked at. */
export async function listFirst(
  root: Root,
  path: CallerPath,
  { most, pool, tell }: ListOptions,
  control: Control,
): Promise<number> {
  return located(root, path, async () => {
    using dir = root.openDir(path);
    const pause = pacer(control);
    const names = await sortedNames(dir, pause);
    let told = 0;
    let seen = 0;
    while (seen < names.length && told < most) {
      const next = names.slice(seen, seen + most - told);
      const part = LookPart.of(next);
      using ahead = pool && next.length >= MANY ? LookAhead.begin({ root, dir, part }, pool) : undefined;
      for (let step = 0; step < part.steps; step += 1) {
        const wait = pause();
        if (wait !== undefined) await wait;
        if (ahead !== undefined) await ahead.done(step, control.signal);
        told += tellStep({ root, path, dir, names: next, part, tell }, step);
      }
      seen += next.length;
    }
    return names.length - seen + told;
  });
}

interface Listing extends Pick<ListOptions, 'tell'> {
  readonly root: Root;
  readonly path: CallerPath;
  readonly dir: Dir;
  readonly names: readonly Name[];
  readonly part: LookPart;
}

/** Tells about the entries of one step, and looks at those first that nobody has seen. Returns how many it told about. */
function tellStep({ root, path, dir, names, part, tell }: Listing, step: number): number {
  const end = Math.min((step + 1) * STEP, names.length);
  let told = 0;
  for (let at = step * STEP; at < end; at += 1) {
    const raw = names[at] as Name;
    const type = part.type(at) ?? part.look(at, raw, dir);
    if (type === undefined) continue;
    const name = shown(raw);
    const size = part.size(at);
    const modifiedMs = Math.round(part.mtimeMs(at));
    if (type !== 'symlink') tell(name, { type, size, modifiedMs });
    else tell(name, { type, size, modifiedMs, targetType: targetType(root, path, name) });
    told += 1;
  }
  return told;
}

/** The names of the direct children alone, in the same order. */
export async function folderNames(root: Root, path: CallerPath, control: Control): Promise<string[]> {
  return located(root, path, async () => {
    using dir = root.openDir(path);
    return (await sortedNames(dir, pacer(control))).map(shown);
  });
}

async function sortedNames(dir: Dir, pause: () => Promise<void> | undefined): Promise<Name[]> {
  const names: Name[] = [];
  let plain = true;
  for (const part of dir.listInParts()) {
    plain = addNames(part, names) && plain;
    const wait = names.length < MANY ? undefined : pause();
    if (wait !== undefined) await wait;
  }
  // The order of UTF-16 units, which is that of code points where there are no surrogates, is the one the engine knows best.
  return sortInTurns(names, { compare: plain ? undefined : byShownName, pause });
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
    const type = typeOf(target.stats);
    return type === 'symlink' ? 'missing' : type;
  } catch (error) {
    if (isCode(error, 'outside_root')) return 'external';
    if (leadsNowhere(error)) return 'missing';
    throw error;
  }
}
