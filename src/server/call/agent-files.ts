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

/** All clients together may have as many bytes cached as this many full caches. */
const FULL_CACHES = 16;

/** Which files `withAgentFiles` makes available. */
export interface AgentFilesOptions {
  readonly config: Config;
  /** The project of a dialect whose tools name no root. Without one, the files are those of the config's agent root. */
  readonly project?: ProjectConfig | undefined;
  readonly backend: Backend;
}

/**
 * Adds to a service the files that its clients hand over, one partition for each client. Returns the service unchanged if the
 * config asks for no such files. Raises `ConfigError` for an allowed path that leads out of the project.
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
