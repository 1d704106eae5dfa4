import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { importWhenLoadable } from '../../config/program/loadable-modules.ts';
import { type Backend, chooseBackend, DEFAULT_RULES, Root } from '../../fence/index.ts';
import { CAPABILITIES } from '../../tools/capabilities.ts';
import { WARM_UP_ROOT } from '../../tools/dialect.ts';
import { type NamedLocalRoot, Roots } from '../../tools/roots.ts';
import { RunningCalls } from '../call/running/running-calls.ts';
import type { Service } from '../call/service.ts';
import { type Peer, processPeer } from '../clients/peer.ts';
import { FastPath } from '../protocol/fast/fast-path.ts';

/** The top of this package, as seen from `dist/server/background` and from `src/server/background`. */
const PACKAGE = fileURLToPath(new URL('../../..', import.meta.url));
/** How long a client has to be quiet, after a call of its own, before the next call of the warm-up. */
const QUIET_MS = 50;
/**
 * How often the calls are repeated. With fewer, V8 has not compiled the search yet, and the first grep takes twice as
 * long.
 */
const ROUNDS = 12;
/** A client that gets results as text alone, unless the operator decided otherwise. */
const TEXT_CLIENT = 'claude-code';

/** What `warmUp` needs of a server. */
export interface WarmUpOptions {
  /** Loads the tools. */
  load(): Promise<Service>;
  /** The calls of clients, which go first. */
  readonly running: RunningCalls;
}

/** A warm-up in progress. */
export interface WarmUp {
  /** Never rejects. */
  readonly ended: Promise<void>;
  /** Ends it after the call that is running. */
  stop(): void;
}

/**
 * Prepares for the first call of a client: loads the tools, starts a search thread, and runs the dialect's warm-up
 * calls, so that their code is loaded and compiled. The calls read this package's own files, never those of a
 * configured root; no client sees them, and neither does the log. They run one at a time while no call of a client is
 * running. Failures have no consequence: what is not prepared is loaded by the call that needs it.
 */
export function warmUpInBackground(options: WarmUpOptions): WarmUp {
  const stopping = new AbortController();
  return {
    ended: warmUp(options, stopping.signal).catch(() => {}),
    stop: () => stopping.abort(),
  };
}

async function warmUp({ load, running }: WarmUpOptions, signal: AbortSignal): Promise<void> {
  const service = await load();
  const { ToolCaller } = await importWhenLoadable(() => import('../call/tool-caller.ts'));
  const { warmUpCalls = [] } = service.dialect;
  if (warmUpCalls.length === 0 || signal.aborted) return;
  // With rules, as roots have them by default, so that the code that decides by them is warm, too.
  using root = Root.open(WARM_UP_ROOT, PACKAGE, backendOf(service.roots), DEFAULT_RULES);
  const separate = separateFrom(service, root);
  const caller = new ToolCaller(separate);
  const fastPath = new FastPath({ ...separate, load: async () => caller });
  const peers = [undefined, TEXT_CLIENT].map((clientName) => ({ ...processPeer(separate.roots), clientName }));
  let seen = running.started;
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { name, args } of warmUpCalls) {
      await nextTurn();
      // A client that calls again and again must not find a warm-up call between two of its own.
      while ((running.size > 0 || running.started !== seen) && !signal.aborted) {
        seen = running.started;
        await sleep(QUIET_MS, undefined, { ref: false });
      }
      if (signal.aborted) return;
      const params = { name, arguments: args };
      const request = { id: round, method: 'tools/call', params, modern: false, progressToken: undefined };
      const peer = peers[round % peers.length] as Peer;
      await fastPath.call(request, peer, { notify: () => {} })?.response;
    }
  }
}

/**
 * Returns a service with the same tools and threads that knows only this root, and leaves no trace in log and figures.
 */
function separateFrom(service: Service, root: Root): Service {
  return {
    ...service,
    roots: new Roots([{ root, allowed: new Set(CAPABILITIES) }]),
    boundRoot: WARM_UP_ROOT,
    agentFiles: undefined,
    logger: service.logger.child({}, { level: 'silent' }),
    activity: undefined,
    observers: [],
    approvals: undefined,
    running: new RunningCalls(),
  };
}

/** Returns the backend of the configured roots, since it is their code that has to be warm. */
function backendOf(roots: Roots): Backend {
  const local = roots.all().find(({ kind }) => kind !== 'agent') as NamedLocalRoot | undefined;
  return chooseBackend(local?.root.share().backend);
}
