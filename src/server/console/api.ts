import * as z from 'zod';
import type { Config } from '../../config/config.ts';
import { listChanges, showChange, undoChange } from './history/changes.ts';
import { HistorySizes } from './history/history-sizes.ts';
import { decide, showReview } from './history/reviews.ts';
import { findHistory, type ServedHistory } from './history/served-history.ts';
import type { PendingApprovals } from './live/approval-queue.ts';
import type { CallRecorder } from './live/call-recorder.ts';
import type { RunningList } from './live/running-list.ts';
import type { Viewer } from './model/viewers.ts';
import { type ServedState, serverState } from './server-state.ts';
import { Refusal } from './web/replies.ts';

const MAX_CALLS = 5_000;
const MAX_CHANGES = 500;

/** What the endpoints answer from. */
export interface ApiSources extends ServedState {
  config(): Config;
  readonly recorder: CallRecorder;
  readonly approvals: PendingApprovals;
  readonly running: RunningList;
}

/** A request of somebody who is signed in. */
interface ApiRequest {
  readonly viewer: Viewer;
  readonly query: URLSearchParams;
  /** The body of a POST. */
  readonly body: Readonly<Record<string, unknown>>;
}

const answerBody = z.object({ answer: z.enum(['allow', 'refuse']) });
const undoBody = z.object({ change: z.string(), force: z.boolean().default(false) });
const decisionBody = z.object({
  id: z.string(),
  decision: z.enum(['accept', 'take_back']),
  files: z.union([
    z.literal('all'),
    z.array(z.object({ path: z.string(), hunks: z.array(z.string()).min(1).optional() })).min(1),
  ]),
});

/** Answers the requests of the page. */
export class ConsoleApi {
  readonly #sources: ApiSources;
  readonly #sizes = new HistorySizes();

  constructor(sources: ApiSources) {
    this.#sources = sources;
  }

  /** Returns the answer to a GET of a path, in parts. Raises `Refusal`. */
  async get([first, root, change, ...more]: readonly string[], { viewer, query }: ApiRequest): Promise<object> {
    if (more.length > 0) throw notFound();
    if (root === undefined) return this.#live(first, viewer, query);
    return this.#withHistory(viewer, root, (served): Promise<object> => {
      if (first === 'history' && change !== undefined) return showChange(served, change);
      if (first === 'history') {
        const limit = numberIn(query, 'limit', { by: 100, max: MAX_CHANGES });
        return listChanges(served, { limit, before: query.get('before') ?? undefined });
      }
      if (first === 'review' && change === undefined) return showReview(served, query.get('since') || undefined);
      throw notFound();
    });
  }

  /** Carries out a POST to a path, and returns its answer, if it has one. Raises `Refusal`. */
  async post([first, second = '', third]: readonly string[], request: ApiRequest): Promise<object | undefined> {
    const { viewer, body } = request;
    if (first === 'running' && third === 'stop') return this.#stop(viewer, second);
    if (first === 'approvals' && third === undefined) return this.#answer(viewer, second, parsed(answerBody, body));
    const isUndo = first === 'history' && third === 'undo';
    if (!isUndo && !(first === 'review' && third === undefined)) throw notFound();
    return this.#withHistory(viewer, second, (served): Promise<object> => {
      if (!viewer.mayUndo) {
        throw new Refusal(403, 'this token may not undo anything: undo_change is not among its tools');
      }
      if (!isUndo) return decide(served, parsed(decisionBody, body));
      const { change: id, force } = parsed(undoBody, body);
      return undoChange(served, { id, force });
    });
  }

  async #live(name: string | undefined, viewer: Viewer, query: URLSearchParams): Promise<object> {
    const { recorder, running, approvals } = this.#sources;
    switch (name) {
      case 'state': {
        const state = await serverState(
          { ...this.#sources, config: this.#sources.config(), sizes: this.#sizes },
          viewer,
        );
        return { ...state, running: running.list(viewer), approvals: approvals.list(viewer) };
      }
      case 'figures':
        return recorder.figures(viewer);
      case 'calls': {
        const limit = numberIn(query, 'limit', { by: 500, max: MAX_CALLS });
        const before = numberIn(query, 'before', { by: Number.MAX_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER });
        return recorder.ring.before(before, limit, (call) => viewer.sees(call));
      }
      default:
        throw notFound();
    }
  }

  #stop(viewer: Viewer, id: string): undefined {
    if (this.#sources.running.stop(viewer, Number(id))) return undefined;
    throw new Refusal(404, 'this call has ended already');
  }

  async #answer(viewer: Viewer, id: string, { answer }: z.output<typeof answerBody>): Promise<undefined> {
    const accepted = await this.#sources.approvals.answer(viewer, id, answer === 'allow');
    if (accepted === 'gone') throw new Refusal(404, 'this call does not wait any more');
    if (accepted === 'own') {
      throw new Refusal(403, 'this call was made with your own token; somebody with another one has to answer it');
    }
    if (accepted === 'unconfirmed') {
      throw new Refusal(
        503,
        'the server where this call waits has not confirmed the answer, so it may not count; try again, or answer it there',
      );
    }
  }

  /**
   * Works on the history of a root. That counts as a running call: a reload that removes the root leaves it open, and a
   * shutdown waits.
   */
  async #withHistory<T>(viewer: Viewer, root: string, work: (served: ServedHistory) => Promise<T>): Promise<T> {
    const { shared, config } = this.#sources;
    const served = findHistory(shared.roots, viewer, root, config().durableWrites);
    const running = shared.running.start();
    try {
      return await work(served);
    } finally {
      shared.running.end(running);
    }
  }
}

function notFound(): Refusal {
  return new Refusal(404, 'there is nothing here');
}

function parsed<T extends z.ZodType>(schema: T, body: unknown): z.output<T> {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  throw new Refusal(400, 'the request is not one that the console makes');
}

function numberIn(query: URLSearchParams, name: string, { by, max }: { by: number; max: number }): number {
  const text = query.get(name);
  if (text === null) return by;
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) throw new Refusal(400, `${name} must be a whole number from 1 on`);
  return Math.min(value, max);
}
