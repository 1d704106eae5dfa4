import { isCode } from '../errors.ts';
import { type CallerPath, type Dir, type EntryType, type Name, type Root, typeOf } from '../fence/index.ts';
import { byCodePoint, hasSurrogates } from './code-point-order.ts';
import { type Control, pacer } from './control.ts';
import { leadsNowhere } from './leads-nowhere.ts';
import { located } from './located.ts';
import { LookAhead } from './look-ahead.ts';
import { type LookPart, STEP } from './look-part.ts';
import type { SearchPool } from './search/pool.ts';
import { sortInTurns } from './sort-in-turns.ts';

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

export interface ListOptions<T> {
  /** How many entries are told about. */
  readonly most: number;
  /** Threads that help with large folders. */
  readonly pool?: SearchPool | undefined;
  /** What becomes of an entry. */
  tell(name: string, facts: Facts): T;
}

export interface FolderPart<T> {
  readonly entries: T[];
  /** Of all entries in the folder. */
  readonly count: number;
}

/** The direct children of a folder, hidden ones too, by code point. An entry that vanishes meanwhile is left out. */
export async function listFolder(root: Root, path: CallerPath, control: Control): Promise<FolderEntry[]> {
  const tell = (name: string, facts: Facts): FolderEntry => ({ name, ...facts });
  const { entries } = await listFirst(root, path, { most: Number.POSITIVE_INFINITY, tell }, control);
  return entries;
}

/** At most so many of them, the first ones, and how many there are. The others are not looked at. */
export async function listFirst<T>(
  root: Root,
  path: CallerPath,
  { most, pool, tell }: ListOptions<T>,
  control: Control,
): Promise<FolderPart<T>> {
  return located(root, path, async () => {
    using dir = root.openDir(path);
    const pause = pacer(control);
    const names = await sortedNames(dir, pause);
    // Of too many, only the first are looked at.
    const first = names.length > most ? names.slice(0, most) : names;
    using ahead = pool && first.length >= MANY ? LookAhead.begin({ root, dir, names: first }, pool) : undefined;
    const told: Told<T> = { root, path, dir, names, most, tell, entries: [] };
    let gone = 0;
    for (let step = 0; step * STEP < names.length && told.entries.length < most; step += 1) {
      const wait = pause();
      if (wait !== undefined) await wait;
      gone += tellStep(told, step, await ahead?.done(step, control.signal));
    }
    return { entries: told.entries, count: names.length - gone };
  });
}

interface Told<T> extends ListOptions<T> {
  readonly root: Root;
  readonly path: CallerPath;
  readonly dir: Dir;
  readonly names: readonly Name[];
  readonly entries: T[];
}

/** Adds the entries of one step, with what was found out about them or else by looking. Returns how many are gone. */
function tellStep<T>({ root, path, dir, names, most, tell, entries }: Told<T>, step: number, looks?: LookPart): number {
  const end = Math.min((step + 1) * STEP, names.length);
  let gone = 0;
  for (let at = step * STEP; at < end && entries.length < most; at += 1) {
    const raw = names[at] as Name;
    const found = looks?.at(at) ?? dir.brief(raw);
    if (found === undefined) {
      gone += 1;
      continue;
    }
    const name = shown(raw);
    const { type, size } = found;
    const modifiedMs = Math.round(found.mtimeMs);
    if (type !== 'symlink') entries.push(tell(name, { type, size, modifiedMs }));
    else entries.push(tell(name, { type, size, modifiedMs, targetType: targetType(root, path, name) }));
  }
  return gone;
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
    for (const { raw } of part) {
      names.push(raw);
      if (plain && (typeof raw !== 'string' || hasSurrogates(raw))) plain = false;
    }
    const wait = names.length < MANY ? undefined : pause();
    if (wait !== undefined) await wait;
  }
  // The order of UTF-16 units, which is that of code points where there are no surrogates, is the one the engine knows best.
  return sortInTurns(names, { compare: plain ? undefined : byShownName, pause });
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
