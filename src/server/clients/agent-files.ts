import type { AgentPartitions, PartitionStats } from '../../agent/bridge/agent-partitions.ts';
import type { FilesystemBridge } from '../../agent/bridge/filesystem-bridge.ts';
import type { PartitionSync } from '../../agent/bridge/partition-sync.ts';
import { StoreUnavailable } from '../../cluster/shared-store.ts';
import { ToolError } from '../../tools/errors.ts';
import type { Peer } from './peer.ts';

/** Says what clients handed over to some services, by the name of the root; that of a project is empty. */
export function partitionStats(
  mounts: readonly { readonly service: { readonly agentFiles?: AgentFiles | undefined } }[],
): (readonly [root: string, stats: PartitionStats])[] {
  const all = mounts.flatMap(({ service }) => service.agentFiles?.partitions() ?? []);
  // Dialects may share the files of a root.
  const roots = new Map(all.map(([root = '', partitions]) => [partitions, root]));
  return [...roots].map(([partitions, root]) => [root, partitions.stats()]);
}

/** The client of a call, and the roots that it is allowed to see. */
type Caller = Pick<Peer, 'client' | 'roots'>;

/** A client's files, and the name of the root that they appear as; undefined for those of a project. */
export interface ClientFiles {
  readonly root: string | undefined;
  readonly bridge: FilesystemBridge;
}

/** The files that clients have handed over: those of a project, and those of each agent root of the config. */
export class AgentFiles {
  readonly #project: AgentPartitions | undefined;
  readonly #byRoot: ReadonlyMap<string, AgentPartitions>;

  constructor(project: AgentPartitions | undefined, byRoot: ReadonlyMap<string, AgentPartitions> = new Map()) {
    this.#project = project;
    this.#byRoot = byRoot;
  }

  /**
   * Returns a client's files of an agent root. Without a name, those of the project, or else of the only agent root
   * that the client may know of; undefined if there is none. Raises `unknown_root`, and `invalid_argument` if a name is
   * needed.
   */
  find(caller: Caller, root?: string): FilesystemBridge | undefined {
    const all = this.all(caller);
    const found = root === undefined ? all[0] : all.find((files) => files.root === root);
    const names = all.flatMap((files) => files.root ?? []);
    if (root !== undefined && found === undefined) throw new ToolError('unknown_root', { known: names }, { root });
    if (root === undefined && found?.root !== undefined && all.length > 1) {
      const problem = `root is required: name one of ${names.join(', ')}`;
      throw new ToolError('invalid_argument', { problem, argument: 'root' });
    }
    return found?.bridge;
  }

  /** Returns all files of a client: those of the project first, then those of the roots that it is allowed to see. */
  all({ client, roots }: Caller): ClientFiles[] {
    if (client === undefined) return [];
    const files: ClientFiles[] = [];
    if (this.#project !== undefined) files.push({ root: undefined, bridge: this.#project.of(client.key) });
    for (const [root, partitions] of this.#byRoot) {
      if (roots.has(root)) files.push({ root, bridge: partitions.of(client.key) });
    }
    return files;
  }

  /** Returns the partitions of the project, whose root has no name, and of each root. */
  partitions(): (readonly [root: string | undefined, partitions: AgentPartitions])[] {
    return this.#project === undefined ? [...this.#byRoot] : [[undefined, this.#project], ...this.#byRoot];
  }

  /** Reports whether a value is the name of an agent root. */
  hasRoot(name: unknown): boolean {
    return typeof name === 'string' && this.#byRoot.has(name);
  }

  /** Fetches what other replicas got from a client. If the store is unavailable, what is here is used. */
  pull(caller: Caller): Promise<void> {
    return this.#sync(caller, (sync) => sync.pull());
  }

  /** Shares what this replica got from a client. If the store is unavailable, the others ask the client again. */
  push(caller: Caller): Promise<void> {
    return this.#sync(caller, (sync) => sync.push());
  }

  /** Drops all files of a client, in all replicas. */
  forget(clientKey: string): void {
    // What cannot be removed now expires.
    for (const [, partitions] of this.partitions()) partitions.forget(clientKey).catch(() => {});
  }

  async #sync({ client, roots }: Caller, work: (sync: PartitionSync) => Promise<void>): Promise<void> {
    for (const [root, partitions] of client === undefined ? [] : this.partitions()) {
      if (root !== undefined && !roots.has(root)) continue;
      const sync = partitions.syncOf(client?.key ?? '');
      await (sync && work(sync))?.catch((error: unknown) => {
        if (!(error instanceof StoreUnavailable)) throw error;
      });
    }
  }

  /** Drops all files of a client that are here. Returns false if there were none. */
  drop(clientKey: string): boolean {
    return this.partitions().filter(([, partitions]) => partitions.drop(clientKey)).length > 0;
  }
}
