import type { SampleAnswer } from '../../agent/sample.ts';

/** More than any honest client has open. What does not fit is asked twice. */
const MAX_OPEN = 1_000;

interface PendingQuestion {
  readonly answered: Promise<SampleAnswer | undefined>;
  settle(answer?: SampleAnswer): void;
}

/**
 * Questions that are with a client, between two rounds of a call, so that another call of the same client can wait for
 * the answer in place of asking again.
 */
export class PendingQuestions {
  readonly #open = new Map<string, PendingQuestion>();

  get size(): number {
    return this.#open.size;
  }

  /** Notes that a question was put. It is forgotten after so long. */
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

  /** Notes that a question is put now. False, and nothing done, if somebody else has put it already. */
  claim(id: string, timeoutMs: number): boolean {
    if (this.#open.has(id)) return false;
    this.put(id, timeoutMs);
    return true;
  }

  answer(id: string, answer: SampleAnswer): void {
    this.#open.get(id)?.settle(answer);
  }

  /** The answer to a question that somebody else put, if it comes within that time; undefined at once if nobody did. */
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
