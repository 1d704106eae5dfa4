import type { Entry, EntryType } from '../../fence/index.ts';
import { byCodePoint } from '../../runtime/unicode.ts';
import { childNode, type DirCache, type DirNode, START_NODE } from './dir-cache.ts';
import type { IgnoreRules } from './ignore-rules.ts';
import { isSkippable } from './is-skippable.ts';

/**
 * Names with surrogates are not in code point order under `<`; names with U+FFFD may not be UTF-8 and then may look
 * equal.
 */
const NEEDS_BYTE_ORDER = /[\ud800-\udfff\ufffd]/;

/** Estimated microseconds to open and list a folder, and to handle one of its entries. */
const FOLDER_COST = 15;
const ENTRY_COST = 1;
/** Estimated microseconds to compare an entry with an ignore rule. */
const RULE_COST = 0.02;
/** Milliseconds of comparing entries with ignore rules after which others may run. */
const PAUSE_MS = 4;
/** With fewer rules to compare an entry with, a folder takes no longer than to list it. */
const FEW_RULES = 64;

/** Limits how much of a tree `walkTree` visits. */
export interface WalkBudget {
  isSpent(): boolean;
  /** Charges an estimated number of microseconds. */
  spend(micros: number): void;
}

/** Options of `walkTree`. */
export interface WalkTreeOptions {
  readonly dirs: DirCache;
  /** Once it is spent, folders are reported instead of entered. */
  readonly budget: WalkBudget;
  /** Types of entries to visit. Folders are entered in any case. */
  readonly types: ReadonlySet<EntryType>;
  /** 1 is the direct children of the start of the search; 0 visits nothing. */
  readonly maxDepth: number;
  readonly skipHidden: boolean;
  /** Whether to enter a folder. */
  enters(path: string): boolean;
  /** Called for each folder that cannot be read. */
  skipped(): void;
  /** The rules that say what to leave out, if any. */
  readonly rules?: IgnoreRules | undefined;
  /** Called for each folder that has entries which the rules leave out. */
  ignored?(entries: number): void;
  /** Whether the search was stopped, so that the entries of a folder need not be complete any more. */
  isStopped?(): boolean;
}

/**
 * Entries of one folder that are adjacent in path order, none if the walk only lets others run, or, if `entries` is
 * undefined, a folder that was not entered because the budget is spent.
 */
export interface WalkVisit {
  readonly node: DirNode;
  readonly entries: readonly Entry[] | undefined;
}

interface WalkItem {
  /** Position in path order. The content of a folder is sorted by its name and a slash. */
  readonly key: string;
  readonly entry: Entry;
  readonly enter: boolean;
}

interface WalkFrame {
  readonly node: DirNode;
  readonly items: readonly WalkItem[];
  next: number;
}

/**
 * Visits the tree below a folder in path order, that is by code point of the whole relative path: `a.b` comes before
 * `a/b`. Symbolic links are visited, never followed. Folders that vanished or cannot be read are skipped, except that
 * the start of the search raises its error.
 */
export function* walkTree(from: DirNode, options: WalkTreeOptions): Generator<WalkVisit, void> {
  if (from.depth >= options.maxDepth) return;
  const frames: WalkFrame[] = [];
  yield* enter(from, frames, options);
  for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
    const item = frame.items[frame.next];
    if (item === undefined) {
      frames.pop();
    } else if (!item.enter) {
      yield { node: frame.node, entries: takeEntries(frame) };
    } else {
      frame.next += 1;
      const node = childNode(frame.node, item.entry.raw);
      if (!options.enters(node.path)) continue;
      if (options.budget.isSpent()) yield { node, entries: undefined };
      else yield* enter(node, frames, options);
    }
  }
}

function* enter(node: DirNode, frames: WalkFrame[], options: WalkTreeOptions): Generator<WalkVisit, void> {
  try {
    frames.push({ node, items: yield* itemsIn(node, options), next: 0 });
  } catch (error) {
    if (node === START_NODE || !isSkippable(error)) throw error;
    options.skipped();
  }
}

function takeEntries(frame: WalkFrame): Entry[] {
  const entries: Entry[] = [];
  for (let item = frame.items[frame.next]; item !== undefined && !item.enter; item = frame.items[frame.next]) {
    entries.push(item.entry);
    frame.next += 1;
  }
  return entries;
}

function* itemsIn(node: DirNode, options: WalkTreeOptions): Generator<WalkVisit, WalkItem[]> {
  const { dirs, budget, types, maxDepth, skipHidden } = options;
  const items: WalkItem[] = [];
  const entersFolders = node.depth + 1 < maxDepth;
  const listed = dirs.open(node).list();
  const rules = options.rules?.of(node, dirs, listed);
  const hasManyRules = rules !== undefined && rules.compared > FEW_RULES;
  let pauseAt = hasManyRules ? performance.now() + PAUSE_MS : 0;
  let ignored = 0;
  for (const entry of listed) {
    // Thousands of rules make a large folder take seconds.
    if (rules !== undefined && options.isStopped?.()) break;
    if (hasManyRules && performance.now() > pauseAt) {
      yield { node, entries: [] };
      pauseAt = performance.now() + PAUSE_MS;
    }
    if (skipHidden && entry.name.startsWith('.')) continue;
    const isVisited = types.has(entry.type);
    const isEntered = entry.type === 'directory' && entersFolders;
    if (!isVisited && !isEntered) continue;
    if (rules?.ignores(entry.name, entry.type === 'directory')) {
      ignored += 1;
      continue;
    }
    if (isVisited) items.push({ key: entry.name, entry, enter: false });
    if (isEntered) items.push({ key: `${entry.name}/`, entry, enter: true });
  }
  if (ignored > 0) options.ignored?.(ignored);
  budget.spend(FOLDER_COST + listed.length * (ENTRY_COST + RULE_COST * (rules?.compared ?? 0)));
  return items.sort(items.some(({ key }) => NEEDS_BYTE_ORDER.test(key)) ? byCodePointThenBytes : byKey);
}

/** Compares names without surrogates or U+FFFD: they are distinct, and `<` orders them by code point. */
function byKey(a: WalkItem, b: WalkItem): number {
  return a.key < b.key ? -1 : 1;
}

function byCodePointThenBytes(a: WalkItem, b: WalkItem): number {
  return byCodePoint(a.key, b.key) || byRawName(a.entry, b.entry);
}

/** Compares the bytes of names, since names that are not UTF-8 may look equal. */
function byRawName(a: Entry, b: Entry): number {
  return Buffer.compare(Buffer.from(a.raw as string), Buffer.from(b.raw as string));
}
