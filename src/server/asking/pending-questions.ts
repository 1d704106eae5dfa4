import type { SampleAnswer } from '../../agent/sample.ts';

/** Bounds memory. Beyond this many, a question may be asked twice. */
const MAX_OPEN = 1_000;

interface PendingQuestion {
  readonly answered: Promise<SampleAnswer | undefined>;
  settle(answer?: SampleAnswer): void;
}

/**
 * The questions that clients have not answered yet, between two rounds of a call, so that another call of the same
 * client can wait for the answer instead of asking again (single flight).
 */
export class PendingQuestions {
  readonly #open = new Map<string, PendingQuestion>();

  get size(): number {
    return this.#open.size;
  }

  /** Adds a question that was asked. It is removed when it is answered or its time is up. */
  put(id: string, timeoutMs: number): void {
    if (this.#open.has(id) || this.#open.size >= MAX_OPEN) return;
    let resolve: PendingQuestion['settle'] = () => {};
    const answered = new Promise<SampleAnswer | undefined>((settle) => {
      resolve = settle;
    });
    const timer = setTimeout(() => settle(), timeoutMs).unref();
    const settle = (answer?: SampleAnswer): void => {
      clearTimeout(timer);
      this.#open.delete(id);
      resolve(answer);
    };
    this.#open.set(id, { answered, settle });
  }

  /** Adds a question that is about to be asked, unless another call has asked it, and reports whether it did. */
  claim(id: string, timeoutMs: number): boolean {
    if (this.#open.has(id)) return false;
    this.put(id, timeoutMs);
    return true;
  }

  /** Passes an answer to the calls that wait for it, and removes the question. */
  answer(id: string, answer: SampleAnswer): void {
    this.#open.get(id)?.settle(answer);
  }

  /**
   * Waits for the answer to a question that another call has asked. Returns undefined if there is no such question, the
   * time is up or the signal is aborted.
   */
  async wait(id: string, milliseconds: number, signal?: AbortSignal): Promise<SampleAnswer | undefined> {
    const open = this.#open.get(id);
    if (open === undefined) return undefined;
    let giveUp = (): void => {};
    const late = new Promise<undefined>((resolve) => {
      giveUp = () => resolve(undefined);
    });
    const timer = setTimeout(giveUp, milliseconds);
    signal?.addEventListener('abort', giveUp, { once: true });
    try {
      return await Promise.race([open.answered, late]);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', giveUp);
    }
  }
}
