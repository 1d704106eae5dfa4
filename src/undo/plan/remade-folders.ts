import type { PastStep } from '../../history/index.ts';

/**
 * The empty folders that an undo has made again, because a move had replaced them. Such a folder stands for the one that
 * was there before, which has another inode number. Hears of steps from the newest on.
 */
export class RemadeFolders {
  /** The numbers of new folders, by the keys of the steps that had replaced the former ones. */
  readonly #made = new Map<string, number>();
  /** The numbers of former folders, by those of the new ones. */
  readonly #former = new Map<number, number>();

  /** Takes note of a step that stays. */
  add({ step, done }: PastStep): void {
    if (step.kind !== 'make' || step.undoes === undefined || done?.after === undefined) return;
    this.#made.set(step.undoes, done.after.ino);
  }

  /** Takes note of a step that was undone. */
  addUndone({ step, key }: PastStep): void {
    const made = this.#made.get(key);
    const former = (step.replaced ?? step.before)?.ino;
    if (made !== undefined && former !== undefined && former !== made) this.#former.set(made, former);
  }

  /** Reports whether a folder is the one with a number, or was made again in its place. */
  is(ino: number, wanted: number): boolean {
    const seen = new Set([ino]);
    for (const each of seen) {
      const former = this.#former.get(each);
      if (former !== undefined) seen.add(former);
    }
    return seen.has(wanted);
  }
}
