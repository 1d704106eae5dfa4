import type { Logger } from 'pino';
import { AgentPartitions } from '../../agent/bridge/agent-partitions.ts';
import { SecurityPolicy } from '../../agent/policy/security-policy.ts';
import { recordOperation } from '../../audit/record-call.ts';
import type { AgentConfig, Config, ProjectConfig } from '../../config/config.ts';
import { ConfigError } from '../../config/config-error.ts';
import { RingfenceError } from '../../errors.ts';
import type { Backend } from '../../fence/index.ts';
import { AgentFiles } from '../clients/agent-files.ts';
import { FULL_CACHES } from '../clients/cache-bounds.ts';
import { partitionStore } from '../clients/partition-store.ts';
import { clientName } from '../clients/peer.ts';
import type { Service } from './service.ts';

/** Options of `withAgentFiles`. */
export interface AgentFilesOptions {
  readonly config: Config;
  /** The project of a dialect whose tools need not name a root. */
  readonly project?: ProjectConfig | undefined;
  readonly backend: Backend;
  /** The files of the agent roots that other dialects of the same server have opened. Those opened here are added. */
  readonly opened?: OpenedAgentRoots;
}

/** The files of the agent roots that have been opened, by the name of the root. */
export type OpenedAgentRoots = Map<string, AgentPartitions>;

/**
 * Adds to a service the files that its clients hand over, one partition for each client and root. Returns the service
 * unchanged if the config asks for no such files. Raises `ConfigError` for an allowed path that leads out of the
 * project.
 */
export function withAgentFiles(service: Service, options: AgentFilesOptions): Service {
  const { config, project, opened = new Map() as OpenedAgentRoots } = options;
  const agentRoots = config.roots.filter(({ agent }) => agent !== undefined);
  if (project === undefined && agentRoots.length === 0) return service;
  const byRoot = new Map<string, AgentPartitions>();
  for (const { name, agent, origin } of agentRoots) {
    if (agent === undefined) continue;
    // The client is told which root is meant if there are several.
    const root = agentRoots.length > 1 ? name : undefined;
    const partitions = opened.get(name) ?? partitionsOf({ ...agent, origin, root, name }, service, options);
    opened.set(name, partitions);
    byRoot.set(name, partitions);
  }
  const ofProject = project && partitionsOf({ ...project, name: '' }, service, options);
  return { ...service, agentFiles: new AgentFiles(ofProject, byRoot) };
}

type FilesConfig = AgentConfig &
  Pick<ProjectConfig, 'origin'> & {
    readonly project?: string;
    readonly root?: string | undefined;
    /** Tells the files of one root from those of another in what the replicas have in common. */
    readonly name: string;
  };

function partitionsOf(
  files: FilesConfig,
  { logger, store }: Service,
  { config, backend }: AgentFilesOptions,
): AgentPartitions {
  const origin = config.file === undefined ? files.origin : `${config.file}: ${files.origin}`;
  return new AgentPartitions({
    policy: policyOf(files, { project: files.project, origin, backend, logger }),
    cacheBytes: files.cacheBytes,
    maxTotalBytes: files.cacheBytes * FULL_CACHES,
    timeoutMs: files.timeout * 1000,
    rootName: files.root,
    storeFor: store && ((clientKey) => partitionStore(store, clientKey, files)),
    audit: (event, clientKey) => recordOperation(logger, event, clientName(clientKey)),
  });
}

interface PolicyOptions {
  /** The folder of the project, if it is on this machine. */
  readonly project: string | undefined;
  /** Where in the config the allowed paths are, for errors. */
  readonly origin: string;
  readonly backend: Backend;
  readonly logger: Logger;
}

function policyOf({ allowedPaths }: AgentConfig, { project, origin, backend, logger }: PolicyOptions): SecurityPolicy {
  const warn = (warning: string): void => logger.warn({ problem: warning }, 'allowed paths of the project');
  try {
    return new SecurityPolicy(
      project === undefined
        ? { remote: true, allowedPaths, warn }
        : { projectRoot: project, allowedPaths, warn, backend },
    );
  } catch (error) {
    if (!(error instanceof RingfenceError)) throw error;
    throw new ConfigError(`${origin}: ${error.path} does not stay inside the project; give paths relative to its top`);
  }
}
