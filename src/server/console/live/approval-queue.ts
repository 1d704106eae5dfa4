import { randomUUID } from 'node:crypto';
import { throwIfAborted } from '../../../runtime/operation-context.ts';
import type { Approvals, AskingCall, Confirm, Confirmation } from '../../confirm/approve.ts';
import type { Approval } from '../model/api-types.ts';
import type { Viewer, Viewers } from '../model/viewers.ts';
import { shownClient } from './call-recorder.ts';

/** How many calls may wait at once. More are refused, as if nobody could be asked. */
const MAX_WAITING = 1_000;

type Answer = Awaited<ReturnType<Confirm>>;

/** A call that waits. It can be passed to another process. */
export interface WaitingCall extends Omit<Approval, 'own'> {
  /** All roots that it changes: whoever answers has to see them. */
  readonly roots: readonly string[];
  /** The key of the client that made it. Nobody with this key may answer. */
  readonly caller: string;
}

interface Waiting {
  readonly call: WaitingCall;
  settle(answer: Answer): void;
}

/**
 * What became of an answer: it counts, it comes too late, it is that of whoever made the call, or the process where the
 * call waits has not said.
 */
export type Accepted = 'done' | 'gone' | 'own' | 'unconfirmed';

/** What the console shows of calls that wait, and how they are answered. */
export interface PendingApprovals {
  /** Returns the calls that wait for this viewer, oldest first. */
  list(viewer: Viewer): Approval[];
  /** Answers a call for a viewer. Only the first answer counts. */
  answer(viewer: Viewer, id: string, agrees: boolean): Promise<Accepted>;
}

/** The calls of this process that wait for somebody at the console to agree. */
export class ApprovalQueue implements Approvals, PendingApprovals {
  readonly #viewers: Viewers;
  readonly #waiting = new Map<string, Waiting>();

  constructor(viewers: Viewers) {
    this.#viewers = viewers;
  }

  ask: Approvals['ask'] = async (call, question, { signal, timeoutMs }) => {
    throwIfAborted(signal);
    const waiting = describe(call, question, timeoutMs);
    const canBeAnswered = this.#viewers.all.some((viewer) => refusalOf(viewer, waiting) === undefined);
    if (!canBeAnswered || this.#waiting.size >= MAX_WAITING) return 'unsupported';
    const { id } = waiting;
    let settle: Waiting['settle'] = () => {};
    const answered = new Promise<Answer>((resolve) => {
      settle = resolve;
    });
    const timer = setTimeout(() => settle('unanswered'), timeoutMs);
    const onAbort = (): void => settle('dismissed');
    signal.addEventListener('abort', onAbort, { once: true });
    this.#waiting.set(id, { call: waiting, settle });
    try {
      const answer = await answered;
      throwIfAborted(signal);
      return answer;
    } finally {
      this.#waiting.delete(id);
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
  };

  /** Returns all calls that wait, oldest first. */
  waiting(): WaitingCall[] {
    return Array.from(this.#waiting.values(), ({ call }) => call);
  }

  list(viewer: Viewer): Approval[] {
    return shownTo(viewer, this.waiting());
  }

  async answer(viewer: Viewer, id: string, agrees: boolean): Promise<Accepted> {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return 'gone';
    const refusal = refusalOf(viewer, waiting.call);
    if (refusal !== undefined) return refusal;
    this.#waiting.delete(id);
    waiting.settle(agrees ? 'agreed' : 'declined');
    return 'done';
  }
}

/** Returns what a viewer sees of calls that wait: those whose roots it all sees. */
export function shownTo(viewer: Viewer, calls: readonly WaitingCall[]): Approval[] {
  return calls
    .filter(({ roots }) => viewer.seesRoots(roots))
    .map(({ roots, caller, ...shown }) => ({ ...shown, own: caller === viewer.key }));
}

/** Returns why a viewer may not answer a call; undefined if it may. */
export function refusalOf(viewer: Viewer, { roots, caller }: WaitingCall): 'gone' | 'own' | undefined {
  if (!viewer.seesRoots(roots)) return 'gone';
  return caller === viewer.key ? 'own' : undefined;
}

function describe({ tool, client, clientName }: AskingCall, question: Confirmation, timeoutMs: number): WaitingCall {
  const { message, places } = question;
  const time = Date.now();
  return {
    id: randomUUID(),
    time,
    expires: time + timeoutMs,
    tool,
    root: places[0]?.root ?? null,
    path: places[0]?.path ?? null,
    client: shownClient(client, clientName),
    message,
    roots: places.map(({ root }) => root),
    caller: client.key,
  };
}
