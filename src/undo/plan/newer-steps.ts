import type { PastStep } from '../../history/index.ts';

/** The steps that stay when older ones are taken back, by the paths that they touched. */
export class NewerSteps {
  /** By path, the newest first. */
  readonly #steps = new Map<string, PastStep[]>();
  /** The steps that take others back, by the keys of those. */
  readonly #undoing = new Map<string, PastStep>();

  /** Adds a step that stays. Call it for steps from the newest on. */
  add(past: PastStep): void {
    for (const path of pathsOf(past)) {
      const steps = this.#steps.get(path);
      if (steps === undefined) this.#steps.set(path, [past]);
      else steps.push(past);
    }
    if (past.step.undoes !== undefined) this.#undoing.set(past.step.undoes, past);
  }

  /** Forgets the step that has taken back the one with this key: together they have changed nothing. */
  forget(key: string): void {
    const undoing = this.#undoing.get(key);
    for (const path of undoing ? pathsOf(undoing) : []) {
      const left = this.#steps.get(path)?.filter((past) => past !== undoing) ?? [];
      if (left.length > 0) this.#steps.set(path, left);
      else this.#steps.delete(path);
    }
  }

  /** All paths that they touched. */
  paths(): Iterable<string> {
    return this.#steps.keys();
  }

  /** The newest change at a path; undefined if there is none. */
  changeAt(path: string): string | undefined {
    return this.#steps.get(path)?.[0]?.step.change;
  }
}

function pathsOf({ step: { path, to } }: PastStep): string[] {
  return to === undefined ? [path] : [path, to];
}
