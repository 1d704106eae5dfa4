import type { Logger } from 'pino';
import { AgentPartitions } from '../../agent/bridge/agent-partitions.ts';
import { SecurityPolicy } from '../../agent/policy/security-policy.ts';
import { recordOperation } from '../../audit/events.ts';
import type { AgentConfig, Config, ProjectConfig } from '../../config/config.ts';
import { ConfigError } from '../../config/config-error.ts';
import { RingfenceError } from '../../errors.ts';
import type { Backend } from '../../fence/index.ts';
import { clientName } from './peer.ts';
import type { Service } from './service.ts';

/** All clients together may have as much kept as so many of them that fill their caches. */
const FULL_CACHES = 16;

export interface AgentFilesOptions {
  readonly config: Config;
  /** The project of a dialect whose tools name no root; else the files are those of the config's agent root. */
  readonly project?: ProjectConfig | undefined;
  readonly backend: Backend;
}

/**
 * The same service with files of its clients' side, each client's apart from all others'. Raises `ConfigError` for an
 * allowed path that leads out of the project.
 */
export function withAgentFiles(service: Service, { config, project, backend }: AgentFilesOptions): Service {
  const { logger } = service;
  const root = config.roots.find(({ agent }) => agent !== undefined);
  const agent = project ?? root?.agent;
  if (agent === undefined) return service;
  const key = (project ?? root)?.origin ?? '';
  const origin = config.file === undefined ? key : `${config.file}: ${key}`;
  const partitions = new AgentPartitions({
    policy: policyOf(agent, { project: project?.project, origin, backend, logger }),
    cacheBytes: agent.cacheBytes,
    maxTotalBytes: agent.cacheBytes * FULL_CACHES,
    timeoutMs: agent.timeout * 1000,
    audit: (event, clientKey) => recordOperation(logger, event, clientName(clientKey)),
  });
  return { ...service, agentFiles: partitions, agentRoot: project === undefined ? root?.name : undefined };
}

interface PolicyOptions {
  /** The folder of the project, where this machine has it. */
  readonly project: string | undefined;
  /** Where the operator wrote the allowed paths. */
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
