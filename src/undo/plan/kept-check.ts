import { type CancelMark, type EntryState, isSameEntry, type PastStep } from '../../history/index.ts';
import type { PastNode } from '../past/past-node.ts';
import type { PastTree } from '../past/past-tree.ts';
import { CtimeChain } from './ctime-chain.ts';

/**
 * Tells whether kept entries are as they were when they were kept: a program that has a hard link to one, or had it open,
 * can still write to it, and set its times back.
 */
export class KeptCheck {
  readonly #tree: PastTree;
  readonly #chain = new CtimeChain();
  /** The newest step that kept something at a place. */
  readonly #keepers = new Map<string, PastStep>();

  constructor(tree: PastTree) {
    this.#tree = tree;
  }

  /** Takes note of what a step did to change times that was given up. */
  addCancelled({ ctimes = [] }: CancelMark): void {
    this.#chain.addChanges(ctimes);
  }

  /** Takes note of a step that happened. Call it for every step, from the newest on. */
  add(past: PastStep): void {
    const { kept } = past.step;
    this.#chain.add(past);
    if (kept !== undefined && !this.#keepers.has(kept)) this.#keepers.set(kept, past);
  }

  /** Reports whether what a step has kept at a place is as it was. */
  isUnchanged(past: PastStep, place: string, node: PastNode): boolean {
    // It is only put there by an action of the same undo.
    if (this.#tree.isRekept(place)) return true;
    const keeper = this.#keepers.get(place) ?? past;
    const { before, replaced } = keeper.step;
    const kept = replaced ?? before;
    if (kept === undefined || !hasSameContent(kept, node)) return false;
    const time = keeper.done?.keptCtimeMs;
    if (time === undefined) return true;
    if (!this.#chain.leadsBack(node.inode, (ctimeMs) => ctimeMs === time)) return false;
    return node.type !== 'directory' || this.changedInside(node, time) === undefined;
  }

  /**
   * Returns the path of an entry in a folder that was changed after a time other than by the history; undefined if none
   * was. With `byContent`, a change of the status alone does not count: a write that failed leaves one, for example.
   */
  changedInside(folder: PastNode, time: number, options: { readonly byContent?: boolean } = {}): string | undefined {
    for (const [name, node] of folder.entries()) {
      if (node.type === 'directory') {
        const inner = this.changedInside(node, time, options);
        if (inner !== undefined) return `${name}/${inner}`;
      } else if (!(options.byContent && node.mtimeMs <= time)) {
        if (!this.#chain.leadsBack(node.inode, (ctimeMs) => ctimeMs <= time)) return name;
      }
    }
    return undefined;
  }
}

/** Compares all but the number, which is another one where the file system has no links and a copy is kept. */
function hasSameContent(kept: EntryState, { inode }: PastNode): boolean {
  return kept.type === inode.type && isSameEntry({ ...kept, ino: inode.ino }, inode);
}
