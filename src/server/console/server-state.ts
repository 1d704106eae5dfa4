import type { PartitionStats } from '../../agent/bridge/agent-partitions.ts';
import { allowedOn, type Config, type RootConfig } from '../../config/config.ts';
import { DEFAULT_PROTECT } from '../../fence/index.ts';
import type { SharedService } from '../call/service.ts';
import type { Peer } from '../clients/peer.ts';
import type { HistorySizes } from './history/history-sizes.ts';
import { type CallRecorder, shownClient, tokenOf } from './live/call-recorder.ts';
import type { CacheState, ClientState, RootState, ServerState, TokenState } from './model/api-types.ts';
import type { Viewer } from './model/viewers.ts';

/** What the console shows of a server besides its calls. */
export interface ServedState {
  readonly shared: SharedService;
  readonly version: string;
  /** Says what is cached of client-side roots, by root. */
  caches(): readonly (readonly [root: string, stats: PartitionStats])[];
  /** The clients of all sessions, each as often as it has one. */
  peers(): readonly Peer[];
}

interface StateSources extends ServedState {
  readonly config: Config;
  readonly sizes: HistorySizes;
  readonly recorder: CallRecorder;
}

/** Returns what a viewer sees of the server, except for what goes on at the moment. */
export async function serverState(
  sources: StateSources,
  viewer: Viewer,
): Promise<Omit<ServerState, 'running' | 'approvals'>> {
  const { config, version, shared, sizes } = sources;
  const visible = config.roots.filter(({ name }) => viewer.seesRoot(name) && shared.roots.has(name));
  const roots = visible.map(async (root) => rootState(root, await sizes.of(shared.roots.find(root.name, []))));
  return {
    version,
    started: Math.round(performance.timeOrigin),
    me: { name: viewer.name, roots: viewer.roots, may_undo: viewer.mayUndo },
    roots: await Promise.all(roots),
    clients: clientStates(sources, viewer),
    tokens: tokenStates(config, viewer),
    cache: cacheStates(sources, viewer),
  };
}

function rootState(root: RootConfig, history: RootState['history']): RootState {
  const { deny = [], protect = DEFAULT_PROTECT, confirm = [], readOnly = false } = root.path === undefined ? {} : root;
  return {
    name: root.name,
    kind: root.path === undefined ? 'agent' : 'folder',
    allowed_tools: [...new Set(allowedOn(root))],
    read_only: readOnly,
    guards: {
      deny: deny.length,
      protect: root.path === undefined ? 0 : protect.length,
      confirm: [...new Set(confirm)],
    },
    history,
  };
}

/** Returns who has called, and who is connected without having called. */
function clientStates({ recorder, peers }: StateSources, viewer: Viewer): ClientState[] {
  const keyOf = ({ client, token }: { client: string; token: string | null }) => `${token ?? ''}\n${client}`;
  const states = new Map(recorder.clients(viewer).map((tally) => [keyOf(tally), { ...tally, sessions: 0 }]));
  for (const { client: known, clientName } of peers()) {
    if (known === undefined) continue;
    const token = tokenOf(known);
    const client = shownClient(known, clientName) ?? 'unknown';
    const state = states.get(keyOf({ client, token }));
    if (state !== undefined) state.sessions += 1;
    else if (token !== null && viewer.seesToken(token)) {
      const quiet = { client, token, calls: 0, errors: 0, violations: 0, last_seen: Date.now(), sessions: 1 };
      states.set(keyOf(quiet), quiet);
    }
  }
  return [...states.values()];
}

/** Returns the tokens for roots that a viewer sees, as far as it sees their roots. */
function tokenStates({ auth }: Config, viewer: Viewer): TokenState[] {
  const tokens = auth?.tokens ?? [];
  return tokens
    .map(({ name, roots, console = false }) => ({
      name,
      roots: roots.filter((root) => viewer.seesRoot(root)),
      console,
    }))
    .filter(({ roots }) => roots.length > 0);
}

function cacheStates({ caches }: StateSources, viewer: Viewer): CacheState[] {
  return caches()
    .filter(([root]) => viewer.seesRoot(root))
    .map(([root, { entries, bytes, maxTotalBytes, hits, misses }]) => ({
      ...{ root, entries, bytes, max_bytes: maxTotalBytes, hits, misses },
    }));
}
