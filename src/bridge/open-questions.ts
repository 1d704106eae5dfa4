interface Question {
  readonly settled: Promise<void>;
  readonly settle: () => void;
}

const MAX_OPEN = 256;

/**
 * Questions whose answer comes with a later call, by what they are about. Each settles when the file is there or its time
 * is over.
 */
export class OpenQuestions {
  readonly #open = new Map<string, Question>();

  note(key: string, timeoutMs: number): void {
    if (this.#open.has(key)) return;
    const [oldest] = this.#open.keys();
    if (this.#open.size >= MAX_OPEN && oldest !== undefined) this.settle(oldest);
    let resolve = () => {};
    const settled = new Promise<void>((done) => {
      resolve = done;
    });
    const timer = setTimeout(() => this.settle(key), timeoutMs).unref();
    const settle = () => {
      clearTimeout(timer);
      resolve();
    };
    this.#open.set(key, { settled, settle });
  }

  settle(key: string): void {
    this.#open.get(key)?.settle();
    this.#open.delete(key);
  }

  answered(key: string): Promise<void> | undefined {
    return this.#open.get(key)?.settled;
  }
}
