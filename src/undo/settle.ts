import { isLeftover } from '../fence/index.ts';
import {
  type EntryState,
  type History,
  hasOwnPlace,
  isAbout,
  isSameEntry,
  type PastStep,
  pastSteps,
  type Step,
  type StepFilter,
  type TimeChange,
} from '../history/index.ts';
import { PastTree, stateOfNode } from './past/past-tree.ts';

/** A step, and whether it happened. */
export interface SettledStep extends PastStep {
  readonly happened: boolean;
}

/** How many newer steps are remembered to find out about an older one. */
const MAX_REMEMBERED = 20_000;

/**
 * Reads the steps of a root's history, newest first, with whether they happened. Where the log does not say so, because
 * the process was killed or is just about to do it, the tree as it was after the step tells.
 */
export function* settledSteps(
  history: History,
  { path = '', onCancelled }: StepFilter = {},
): Generator<SettledStep, void, undefined> {
  if (path !== '') {
    yield* settledAbout(history, path);
    return;
  }
  const witness = new Witness(history);
  for (const past of pastSteps(history, { onCancelled })) {
    const happened = !past.cancelled && (past.done !== undefined || witness.saw(past));
    if (happened) witness.remember(past);
    yield { ...past, happened };
  }
}

/**
 * Reads the steps about a path, newest first. From the first one on of which the log does not say whether it happened,
 * all other steps are read, too, because folders above it may have been moved since.
 */
function* settledAbout(history: History, path: string): Generator<SettledStep, void, undefined> {
  let known = 0;
  let isOpen = false;
  for (const past of pastSteps(history, { path })) {
    isOpen = past.done === undefined && !past.cancelled;
    if (isOpen) break;
    known += 1;
    yield { ...past, happened: past.done !== undefined };
  }
  if (!isOpen) return;
  for (const past of settledSteps(history)) if (isAbout(past.step, path) && known-- <= 0) yield past;
}

/**
 * Notes in the log what became of the steps that killed processes left open, so that it need not be found out again,
 * and lets go of what was kept for those that did not happen. Returns how many there were. It looks at the newest steps
 * only, no further than the keys in `open` if it is given: older ones were left open before an earlier start.
 */
export function settle(history: History, open?: ReadonlySet<string>): number {
  const left = open && new Set(open);
  const witness = new Witness(history);
  const { log, kept } = history;
  let settled = 0;
  let looked = 0;
  for (const past of pastSteps(history)) {
    if (looked++ === MAX_REMEMBERED || left?.size === 0) break;
    left?.delete(past.key);
    const { step, key, done, cancelled } = past;
    const isOpen = done === undefined && !cancelled;
    const happened = !cancelled && (done !== undefined || witness.saw(past));
    if (isOpen && isLeftover(history.root.top, '.', step.process)) {
      if (happened) {
        const keptCtimeMs = step.kept && kept.lstat(step.kept)?.ctimeMs;
        const after = witness.stateAfter(past);
        log.mark({ done: key, ...(after && { after }), ...(keptCtimeMs && { keptCtimeMs }) });
      } else {
        // A link or a copy: what the step was to remove is still at its path.
        const ctimes = hasOwnPlace(step) ? discardCopy(history, step) : undefined;
        log.mark({ cancelled: key, ...(ctimes && { ctimes }) });
      }
      settled += 1;
    }
    if (happened) witness.remember(past);
  }
  log.writeMarks();
  return settled;
}

/** Lets go of what was kept for a step that did not happen, and returns what that and keeping it did to its change time. */
function discardCopy(
  { kept }: History,
  { change, number, kept: place, before, replaced }: Step,
): readonly TimeChange[] | undefined {
  const stats = place === undefined ? undefined : kept.lstat(place);
  if (place === undefined || stats === undefined || stats.isDirectory()) return undefined;
  const there = replaced ?? before;
  // The place of an undo may still hold what another step has kept there.
  const isOwn = place.endsWith(`/${change}-${number}`) || stats.ino === there?.ino;
  if (!isOwn) return undefined;
  const freed = kept.discard(place);
  if (freed === undefined) return undefined;
  // What was appended to the file meanwhile has a step of its own, which notes the times from there on.
  if (!isSameEntry(there, stats)) return [freed];
  return [{ ino: stats.ino, from: there?.ctimeMs ?? 0, to: stats.ctimeMs }, freed];
}

/** Knows how the root was after each of its newest steps. Hears of all that happened, newest first. */
class Witness {
  readonly #history: History;
  #tree: PastTree | undefined;
  /** Steps that the tree is not rewound over yet. */
  #newer: PastStep[] = [];

  constructor(history: History) {
    this.#history = history;
  }

  remember(past: PastStep): void {
    if (this.#newer.length < MAX_REMEMBERED) this.#newer.push(past);
  }

  /** Reports whether a step happened, by how the root was after all that is older than what it has heard of. */
  saw({ step }: PastStep): boolean {
    const tree = this.#rewound();
    const { path, to = '', before, after, kept } = step;
    const there = tree.find(path);
    switch (step.kind) {
      case 'put':
        if (there !== undefined && there.ino === after?.ino) return true;
        // What was there may now be nowhere but among what is kept, so this counts as a step unless it is still there.
        return before !== undefined && there?.ino !== before.ino && isKept(tree, kept);
      case 'remove':
      case 'unmake':
        return there?.ino !== before?.ino && (kept === undefined || isKept(tree, kept));
      case 'make':
        return there?.type === 'directory';
      case 'move':
        return there?.ino !== before?.ino && tree.find(to)?.ino === before?.ino;
      case 'append':
        return there !== undefined && there.ino === before?.ino && there.size > before.size;
      case 'truncate':
        return there !== undefined && there.ino === before?.ino && there.size < before.size;
    }
  }

  /** Returns what a step left at the path that its mark is about. */
  stateAfter({ step }: PastStep): EntryState | undefined {
    const node = this.#rewound().find(step.to ?? step.path);
    return node && stateOfNode(node);
  }

  #rewound(): PastTree {
    this.#tree ??= new PastTree(this.#history);
    for (const past of this.#newer) this.#tree.rewind(past);
    this.#newer = [];
    return this.#tree;
  }
}

function isKept(tree: PastTree, kept: string | undefined): boolean {
  return kept !== undefined && tree.keptAt(kept) !== undefined;
}
