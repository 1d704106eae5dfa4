import { pino } from 'pino';
import type { Sample } from '../../src/agent/sample.ts';
import type { Config, ProjectConfig } from '../../src/config/config.ts';
import { classic } from '../../src/dialects/classic/index.ts';
import { guide } from '../../src/dialects/guide/index.ts';
import { memory } from '../../src/dialects/memory/index.ts';
import { workspace } from '../../src/dialects/workspace/index.ts';
import { workspaceWithHistory } from '../../src/dialects/workspace/with-history.ts';
import { type BackendName, chooseBackend } from '../../src/fence/index.ts';
import { type History, historyOf } from '../../src/history/index.ts';
import type { Service } from '../../src/server/call/service.ts';
import { ToolCaller } from '../../src/server/call/tool-caller.ts';
import { withAgentFiles } from '../../src/server/call/with-agent-files.ts';
import { processPeer } from '../../src/server/clients/peer.ts';
import type { Confirm } from '../../src/server/confirm/approve.ts';
import { openService } from '../../src/server/open-service.ts';
import { toResult } from '../../src/server/protocol/sdk/sdk-server.ts';
import type { Dialect } from '../../src/tools/dialect.ts';
import type { DialectName } from './dialect-contracts.ts';
import { ToolCalls } from './tool-client.ts';

/** Every dialect by its name. */
export const DIALECTS: Readonly<Record<DialectName, Dialect>> = { workspace, memory, classic, guide };

/** How the client declares itself. */
export const CLIENT = 'in-process-client';

export interface InProcessOptions<D extends DialectName> {
  readonly dialect: D;
  readonly config: Config;
  /** The root of a dialect whose tools name none. */
  readonly boundRoot?: string | undefined;
  /** The strongest that this machine supports if left out. */
  readonly fence?: BackendName;
  /** The project of the guide dialect. */
  readonly project?: ProjectConfig;
}

export interface InProcessCallOptions {
  /** How the call asks its client; it cannot if left out. */
  readonly sample?: Sample;
  /** How the call asks the person who uses the client; it cannot if left out. */
  readonly confirm?: Confirm;
}

/**
 * A service in this process that is called without a transport, for tests that answer for the client inside a call or that
 * call too often for a pipe. All others start a process with `startServer`. Dispose of it with `await using`.
 */
export class InProcessServer<D extends DialectName>
  extends ToolCalls<D, InProcessCallOptions>
  implements AsyncDisposable
{
  readonly #service: Service;
  readonly #peer: ReturnType<typeof processPeer>;

  constructor({ dialect, config, boundRoot, fence, project }: InProcessOptions<D>) {
    const backend = chooseBackend(fence);
    const logger = pino({ level: 'silent' });
    const hasHistory = config.roots.some(({ history }) => history !== undefined);
    const served = dialect === 'workspace' && hasHistory ? workspaceWithHistory : DIALECTS[dialect];
    const opened = openService({ config, dialect: served, boundRoot, backend, logger });
    const service = withAgentFiles(opened, { config, backend, project });
    const caller = new ToolCaller(service);
    const { roots, running } = service;
    const peer = processPeer(roots);
    const client = peer.client as NonNullable<typeof peer.client>;
    super(dialect, async (name, args, { sample, confirm } = {}) => {
      const call = {
        name,
        args: { ...args },
        client,
        clientName: CLIENT,
        roots,
        sample,
        confirm,
        running: running.start(),
        progress: () => {},
      };
      return toResult(await caller.call(call));
    });
    this.#service = service;
    this.#peer = peer;
  }

  /** The history of a root that has one. */
  history(root: string): History {
    const history = historyOf(this.#service.roots.use(root, []));
    if (history === undefined) throw new Error(`root ${root} has no history`);
    return history;
  }

  /** The paths of the client's files that the server has cached. */
  cachedPaths(): readonly string[] | undefined {
    return this.#service.agentFiles?.find(this.#peer)?.cache.paths();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#service.close();
  }
}
