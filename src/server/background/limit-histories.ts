import { describeThrown } from '../../audit/describe-thrown.ts';
import { importWhenLoadable } from '../../config/program/loadable-modules.ts';
import type { Root } from '../../fence/index.ts';
import { type History, historyOf } from '../../history/index.ts';
import { backgroundPacer } from '../../runtime/background-pacer.ts';
import type { SharedService } from '../call/service.ts';

/** Leaves the first calls of the client undisturbed. */
const START_MS = 1_500;
/** How often it is looked for new history, and how often the limits are enforced without any. */
const CHECK_MS = 5_000;
const IDLE_MS = 60_000;
/** How many times within `keep`, where that is short. */
const PER_KEEP = 16;
const MIN_CHECK_MS = 250;

/**
 * Keeps the history of a root within its limits, in the background, until the signal is aborted. Says in the log what
 * was removed. Failures are only logged. Does nothing for a root without history.
 */
export function limitHistory(service: Logging, root: Root, signal: AbortSignal): void {
  const history = historyOf(root);
  if (history === undefined) return;
  reportNotices(service, root, history);
  const limiter = new Limiter({ service, root, history, signal });
  const checkMs = Math.max(MIN_CHECK_MS, Math.min(CHECK_MS, history.options.keepMs / PER_KEEP));
  const timers = [
    setInterval(() => void limiter.check(), checkMs).unref(),
    setTimeout(() => void limiter.check(), Math.min(START_MS, checkMs)).unref(),
  ];
  signal.addEventListener('abort', () => timers.forEach(clearInterval), { once: true });
}

type Logging = Pick<SharedService, 'logger'>;

interface LimiterOptions {
  readonly service: Logging;
  readonly root: Root;
  readonly history: History;
  readonly signal: AbortSignal;
}

class Limiter {
  readonly history: History;
  readonly #service: Logging;
  readonly #root: Root;
  readonly #signal: AbortSignal;
  #isRunning = false;
  #seen: string | undefined;
  #previous: string | undefined;
  #lastRun = 0;

  constructor({ service, root, history, signal }: LimiterOptions) {
    this.#service = service;
    this.#root = root;
    this.#signal = signal;
    this.history = history;
  }

  /** Enforces the limits if there is new history, or if it is long ago. */
  async check(): Promise<void> {
    if (this.#isRunning || this.#signal.aborted) return;
    this.#isRunning = true;
    try {
      const state = this.history.log.fingerprint();
      const idleMs = Math.min(IDLE_MS, this.history.options.keepMs / PER_KEEP);
      if (state === this.#seen && Date.now() - this.#lastRun < idleMs) return;
      await this.#enforce();
      // What was written just now cannot be removed yet, so there is one more run after the last change.
      if (state === this.#previous) this.#seen = state;
      this.#previous = state;
      this.#lastRun = Date.now();
    } catch (error) {
      if (this.#signal.aborted) return;
      this.#service.logger.warn({ root: this.#root.name, error: describeThrown(error) }, 'history cannot be limited');
    } finally {
      this.#isRunning = false;
    }
  }

  /** Finds out what became of the steps that killed processes left open. */
  async #settle(): Promise<void> {
    const { openSteps } = await importWhenLoadable(() => import('../../history/limits/open-steps.ts'));
    const open = await openSteps(this.history, backgroundPacer(this.#signal));
    if (open.size === 0) return;
    const { settle } = await importWhenLoadable(() => import('../../undo/index.ts'));
    const settled = settle(this.history, open);
    if (settled === 0) return;
    this.#service.logger.info({ root: this.#root.name, settled }, 'history of killed processes settled');
  }

  async #enforce(): Promise<void> {
    const { logger } = this.#service;
    const root = this.#root.name;
    if (this.#lastRun === 0) await this.#settle();
    const { enforceLimits } = await importWhenLoadable(() => import('../../history/limits/enforce-limits.ts'));
    const { removeTree } = await importWhenLoadable(() => import('../../files/remove/remove-folder.ts'));
    const pause = backgroundPacer(this.#signal);
    const context = { signal: this.#signal };
    const expired = await enforceLimits(this.history, {
      pause,
      removeTree: async (entry) => void (await removeTree(entry, { unlock: true, pause }, context)),
    });
    for (const { limit, changes, bytes, files, until, checkpoint } of expired) {
      const facts = { root, limit, changes, bytes, files, until: new Date(until).toISOString() };
      if (checkpoint === undefined) logger.info(facts, 'old history removed');
      else logger.warn({ ...facts, checkpoint }, 'history since the newest checkpoint removed');
    }
  }
}

/** Writes what a history has to say to the log: that it copies, once, and every file that it does not keep. */
function reportNotices({ logger }: Logging, root: Root, history: History): void {
  let hasCopied = false;
  history.onNotice = (notice) => {
    const { kind, path } = notice;
    if (kind === 'unkept') {
      const { maxBytes } = history.options;
      logger.warn({ root: root.name, path, bytes: notice.bytes, max_bytes: maxBytes }, 'file too large for history');
    } else if (!hasCopied) {
      hasCopied = true;
      logger.warn({ root: root.name, path }, 'history keeps files by copying, because hard links cannot be made');
    }
  };
}
