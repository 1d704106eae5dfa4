/** Does things when the answers of this turn of the event loop are out, all in one go: a turn for each would cost as much again. */
export class PostResponseQueue {
  #work: (() => void)[] = [];

  add(work: () => void): void {
    if (this.#work.push(work) === 1) setImmediate(this.#run);
  }

  readonly #run = (): void => {
    const work = this.#work;
    this.#work = [];
    for (const each of work) each();
  };
}
