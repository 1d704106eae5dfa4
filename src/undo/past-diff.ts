import { type History, isAtOrBelow, isSameEntry } from '../history/index.ts';
import type { PastEntry, PastNode } from './past/past-node.ts';
import { PastTree } from './past/past-tree.ts';
import type { PastChange } from './past-change.ts';
import { settledSteps } from './settle.ts';

/** What changes did to one entry. A folder is in it only if it was made, removed or moved. */
export interface PathDiff {
  /** Where the entry is after the changes, or was before if they removed it. From the top of the root. */
  readonly path: string;
  /** Where the entry was before, if it was moved. */
  readonly movedFrom: string | undefined;
  /** Undefined if there was nothing before, or is nothing after. */
  readonly before: PastEntry | undefined;
  readonly after: PastEntry | undefined;
}

/**
 * Compares how a root was before the oldest of some changes with how it was after the newest, at all paths that they
 * touched: what they did together. Removed and added folders come with everything below them. Sorted by path. What is
 * returned reads from disk when it is asked for content, so use it before anything is changed.
 */
export function diffOfChanges(
  history: History,
  changes: readonly PastChange[],
  { path: below = '' }: { readonly path?: string | undefined } = {},
): PathDiff[] {
  const [before, after] = treesAround(history, changes);
  const paths = new Set<string>();
  for (const { steps } of changes) {
    for (const { step } of steps) {
      paths.add(step.path);
      if (step.to !== undefined) paths.add(step.to);
    }
  }
  const moves = movesBetween(before, after, paths);
  const diffs = new DiffCollector();
  for (const path of paths) {
    const from = rebase(path, moves, 'to') ?? path;
    const to = from === path && after.find(path) === undefined ? (rebase(path, moves, 'from') ?? path) : path;
    diffs.compare({ from, to, before: before.find(from), after: after.find(to) });
  }
  return diffs.below(below);
}

/** An entry that is the same before and after some changes, but for its path. */
interface Moved {
  readonly from: string;
  readonly to: string;
}

function movesBetween(before: PastTree, after: PastTree, paths: ReadonlySet<string>): Moved[] {
  const gone = new Map<number, string>();
  for (const path of paths) {
    const was = before.find(path);
    if (was !== undefined && after.find(path)?.ino !== was.ino) gone.set(was.ino, path);
  }
  const moves: Moved[] = [];
  for (const to of paths) {
    const is = after.find(to);
    const from = is && gone.get(is.ino);
    if (from === undefined || from === to) continue;
    if (before.find(to)?.ino !== is?.ino && before.find(from)?.type === is?.type) moves.push({ from, to });
  }
  return moves;
}

/** Returns the other path of what is at a path, or of what it is in, if that was moved; of the innermost such folder. */
function rebase(path: string, moves: readonly Moved[], side: keyof Moved): string | undefined {
  let best: Moved | undefined;
  for (const move of moves) {
    if (isAtOrBelow(path, move[side]) && move[side].length >= (best?.[side].length ?? 0)) best = move;
  }
  const other = side === 'to' ? 'from' : 'to';
  return best && best[other] + path.slice(best[side].length);
}

interface Compared extends Moved {
  readonly before: PastNode | undefined;
  readonly after: PastNode | undefined;
}

class DiffCollector {
  readonly #diffs = new Map<string, PathDiff>();

  compare(compared: Compared): void {
    const { from, to, before, after } = compared;
    if (before === undefined && after === undefined) return;
    const isMoved = from !== to && before !== undefined && after !== undefined;
    const isSame = before !== undefined && after !== undefined && isSameEntry({ ...before.inode }, { ...after.inode });
    const areFolders = before?.type === 'directory' && after?.type === 'directory';
    if (isMoved || !(isSame || areFolders)) {
      this.#diffs.set(to, { path: to, movedFrom: isMoved ? from : undefined, before, after });
    }
    if (isSame) return;
    const names = new Set([...namesIn(before), ...namesIn(after)]);
    for (const name of names) {
      const [was, is] = [before, after].map((node) => (node?.type === 'directory' ? node.child(name) : undefined));
      this.compare({ from: `${from}/${name}`, to: `${to}/${name}`, before: was, after: is });
    }
  }

  below(path: string): PathDiff[] {
    const found = [...this.#diffs.values()].filter(
      (diff) => isAtOrBelow(diff.path, path) || isAtOrBelow(diff.movedFrom ?? diff.path, path),
    );
    return found.sort((a, b) => (a.path < b.path ? -1 : 1));
  }
}

function namesIn(node: PastNode | undefined): string[] {
  return node?.type === 'directory' ? node.names() : [];
}

function treesAround(history: History, changes: readonly PastChange[]): [before: PastTree, after: PastTree] {
  const left = new Set(changes.flatMap(({ steps }) => steps.map(({ key }) => key)));
  const before = new PastTree(history);
  const after = new PastTree(history);
  let isAfter = true;
  for (const past of settledSteps(history)) {
    if (left.size === 0) break;
    if (left.delete(past.key)) isAfter = false;
    if (!past.happened) continue;
    before.rewind(past);
    if (isAfter) after.rewind(past);
  }
  return [before, after];
}
