import type { PastStep, TimeChange } from '../../history/index.ts';

/**
 * What the history itself did to the change times (ctime) of inodes. Any other change of a ctime was made by another
 * program, whatever it did to the other times: nobody can set a ctime.
 */
export class CtimeChain {
  /** By inode: from which time to which. */
  readonly #earlier = new Map<number, Map<number, number[]>>();

  /** Takes note of what a step did that was given up. */
  addChanges(changes: readonly TimeChange[]): void {
    for (const { ino, from, to } of changes) this.#add(ino, from, to);
  }

  /** Takes note of a step that happened. */
  add({ step, done }: PastStep): void {
    if (done === undefined) return;
    const { before, replaced, after, from } = step;
    const inPlace = step.kind === 'append' || step.kind === 'truncate' || step.kind === 'move';
    const { beforeCtimeMs = before?.ctimeMs ?? 0, fromCtimeMs = after?.ctimeMs ?? 0 } = done;
    if (before !== undefined) this.#add(before.ino, beforeCtimeMs, inPlace ? done.after?.ctimeMs : done.keptCtimeMs);
    if (replaced !== undefined) this.#add(replaced.ino, replaced.ctimeMs, done.keptCtimeMs);
    if (from !== undefined && after !== undefined) this.#add(after.ino, fromCtimeMs, done.after?.ctimeMs);
  }

  /** Reports whether an inode has a ctime that leads back to one that fits, by steps of the history alone. */
  leadsBack({ ino, ctimeMs }: { ino: number; ctimeMs: number }, fits: (ctimeMs: number) => boolean): boolean {
    const seen = new Set([ctimeMs]);
    const edges = this.#earlier.get(ino);
    for (const time of seen) {
      if (fits(time)) return true;
      for (const earlier of edges?.get(time) ?? []) seen.add(earlier);
    }
    return false;
  }

  #add(ino: number, from: number, to: number | undefined): void {
    if (to === undefined) return;
    const edges = this.#earlier.get(ino) ?? new Map<number, number[]>();
    this.#earlier.set(ino, edges);
    const known = edges.get(to);
    if (known === undefined) edges.set(to, [from]);
    else if (!known.includes(from)) known.push(from);
  }
}
