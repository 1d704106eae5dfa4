import { type Entry, type EntryType, isFenceError } from '../../fence/index.ts';
import { byCodePoint } from '../../runtime/code-point-order.ts';
import { type Budget, COST } from '../pool/budget.ts';
import { childNode, type DirCache, type DirNode, START_NODE } from './dir-cache.ts';

/** Halves of a code point, or bytes that are none. */
const NOT_PLAIN = /[\ud800-\udfff\ufffd]/;

export interface WalkTreeOptions {
  readonly dirs: DirCache;
  /** Once it is spent, folders are no longer entered. */
  readonly budget: Pick<Budget, 'isSpent' | 'spend'>;
  /** Only these are visited; folders are entered in any case. */
  readonly types: ReadonlySet<EntryType>;
  /** 1 is the start's direct children, 0 nothing at all. */
  readonly maxDepth: number;
  readonly skipHidden: boolean;
  /** Whether to look into a folder. */
  enters(path: string): boolean;
  /** Told of each folder that cannot be read. */
  skipped(): void;
}

/** Entries of one folder that follow each other in path order; without them, a folder that is left to do. */
export interface WalkVisit {
  readonly node: DirNode;
  readonly entries: readonly Entry[] | undefined;
}

interface WalkStep {
  /** Where it comes in path order: a folder's content comes at its name and a slash. */
  readonly key: string;
  readonly entry: Entry;
  readonly enter: boolean;
}

interface WalkFrame {
  readonly node: DirNode;
  readonly steps: readonly WalkStep[];
  next: number;
}

/**
 * Visits what is below a folder in path order: by code point of the whole relative path, so `a.b` comes before `a/b`.
 * Links are visited, never followed. A folder that has vanished or may not be read is left out; the start of the search
 * raises its error.
 */
export function* walkTree(from: DirNode, options: WalkTreeOptions): Generator<WalkVisit, void> {
  if (from.depth >= options.maxDepth) return;
  const frames: WalkFrame[] = [];
  enter(from, frames, options);
  for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
    const step = frame.steps[frame.next];
    if (step === undefined) {
      frames.pop();
    } else if (!step.enter) {
      yield { node: frame.node, entries: takeRun(frame) };
    } else {
      frame.next += 1;
      const node = childNode(frame.node, step.entry.raw);
      if (!options.enters(node.path)) continue;
      if (options.budget.isSpent) yield { node, entries: undefined };
      else enter(node, frames, options);
    }
  }
}

/** What a search leaves out when a single folder or file raises it; anything else ends the search. */
export function isSkippable(error: unknown): boolean {
  return isFenceError(
    error,
    'not_found',
    'not_directory',
    'is_directory',
    'permission_denied',
    'link_loop',
    'special_file',
    'outside_root',
    'name_too_long',
    'io_error',
  );
}

function enter(node: DirNode, frames: WalkFrame[], options: WalkTreeOptions): void {
  try {
    frames.push({ node, steps: stepsIn(node, options), next: 0 });
  } catch (error) {
    if (node === START_NODE || !isSkippable(error)) throw error;
    options.skipped();
  }
}

function takeRun(frame: WalkFrame): Entry[] {
  const entries: Entry[] = [];
  for (let step = frame.steps[frame.next]; step !== undefined && !step.enter; step = frame.steps[frame.next]) {
    entries.push(step.entry);
    frame.next += 1;
  }
  return entries;
}

function stepsIn(node: DirNode, { dirs, budget, types, maxDepth, skipHidden }: WalkTreeOptions): WalkStep[] {
  const steps: WalkStep[] = [];
  const entersFolders = node.depth + 1 < maxDepth;
  const listed = dirs.open(node).list();
  for (const entry of listed) {
    if (skipHidden && entry.name.startsWith('.')) continue;
    if (types.has(entry.type)) steps.push({ key: entry.name, entry, enter: false });
    if (entry.type === 'directory' && entersFolders) steps.push({ key: `${entry.name}/`, entry, enter: true });
  }
  budget.spend(COST.folder + COST.entry * listed.length);
  return steps.sort(steps.some(({ key }) => NOT_PLAIN.test(key)) ? byCodePoints : byKey);
}

/** Plain names are different from each other, and JavaScript's own order is theirs. */
function byKey(a: WalkStep, b: WalkStep): number {
  return a.key < b.key ? -1 : 1;
}

function byCodePoints(a: WalkStep, b: WalkStep): number {
  return byCodePoint(a.key, b.key) || byRawName(a.entry, b.entry);
}

/** Names that are not UTF-8 may look the same. */
function byRawName(a: Entry, b: Entry): number {
  return Buffer.compare(Buffer.from(a.raw as string), Buffer.from(b.raw as string));
}
