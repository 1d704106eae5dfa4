import type { AgentPartitions } from '../../agent/bridge/agent-partitions.ts';
import type { FilesystemBridge } from '../../agent/bridge/filesystem-bridge.ts';
import { ToolError } from '../../tools/errors.ts';
import type { Peer } from './peer.ts';

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

  /** Drops all files of a client. */
  drop(clientKey: string): void {
    for (const partitions of [this.#project, ...this.#byRoot.values()]) partitions?.drop(clientKey);
  }
}
