import type { RunningCall as Running, RunningCalls } from '../../call/running/running-calls.ts';
import type { RunningCall } from '../model/api-types.ts';
import type { Viewer } from '../model/viewers.ts';
import { shownClient, tokenOf } from './call-recorder.ts';

/** Shorter calls are not shown: they would be gone before anybody reads them. */
const SHOWN_AFTER_MS = 100;
/** How many are shown at once. */
const MAX_SHOWN = 200;

/** The calls that take long enough to be watched and stopped. */
export class RunningList {
  readonly #running: RunningCalls;
  /** Given to a call when it is first shown. */
  readonly #ids = new WeakMap<Running, number>();
  #lastId = 0;

  constructor(running: RunningCalls) {
    this.#running = running;
  }

  /** Returns the calls that a viewer sees, the oldest first. */
  list(viewer: Viewer): RunningCall[] {
    const now = performance.now();
    const shown = this.#seenBy(viewer, now - SHOWN_AFTER_MS).map((call) => this.#describe(call, now));
    return shown.sort((a, b) => a.started - b.started).slice(0, MAX_SHOWN);
  }

  /** Stops a call that a viewer sees, and reports whether it was still running. */
  stop(viewer: Viewer, id: number): boolean {
    const call = this.#seenBy(viewer, performance.now()).find((each) => this.#ids.get(each) === id);
    call?.cancel();
    return call !== undefined;
  }

  #seenBy(viewer: Viewer, startedBy: number): Running[] {
    return this.#running.all().filter(({ inProgress, isWaiting }) => {
      // Those that wait for a person are in the queue of approvals.
      if (inProgress === undefined || isWaiting || inProgress.started > startedBy) return false;
      const { request, subject } = inProgress;
      return viewer.sees({ root: subject.root ?? null, token: tokenOf(request.client) });
    });
  }

  #describe(call: Running, now: number): RunningCall {
    const { inProgress, done, total } = call;
    if (inProgress === undefined) throw new Error('a call that has not begun');
    const { request, subject, dialect, started } = inProgress;
    let id = this.#ids.get(call);
    if (id === undefined) {
      this.#lastId += 1;
      id = this.#lastId;
      this.#ids.set(call, id);
    }
    return {
      id,
      tool: request.name,
      dialect,
      root: subject.root ?? null,
      path: subject.path ?? null,
      client: shownClient(request.client, request.clientName),
      // Rounded, so that it is the same each time.
      started: Math.round((Date.now() - now + started) / 100) * 100,
      progress: done === undefined ? null : { done, total: total ?? null },
    };
  }
}
