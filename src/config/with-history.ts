import { DEFAULT_HISTORY } from '../history/index.ts';
import type { Config } from './config.ts';

/** Returns a config in which every folder of this machine has the history that is kept by default. */
export function withHistory(config: Config): Config {
  return {
    ...config,
    roots: config.roots.map((root) => (root.path === undefined ? root : { ...root, history: DEFAULT_HISTORY })),
  };
}
