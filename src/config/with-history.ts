import { DEFAULT_HISTORY } from '../history/index.ts';
import type { Config } from './config.ts';
import { ConfigError } from './config-error.ts';

/**
 * Returns a config in which every folder of this machine has the history that is kept by default. Raises `ConfigError`
 * for a server with replicas, which keeps none.
 */
export function withHistory(config: Config): Config {
  if (config.cluster !== undefined) {
    throw new ConfigError('--history: cannot be kept together with cluster; leave out one of the two');
  }
  return {
    ...config,
    roots: config.roots.map((root) => (root.path === undefined ? root : { ...root, history: DEFAULT_HISTORY })),
  };
}
