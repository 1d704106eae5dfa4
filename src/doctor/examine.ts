import type { Config } from '../config/config.ts';
import type { Backend } from '../fence/index.ts';
import { examineRoot } from './examine-root.ts';
import type { Finding } from './finding.ts';
import { proveFence } from './prove-fence.ts';
import { proveGuards } from './prove-guards.ts';
import { proveLandlock } from './prove-landlock.ts';
import { examineSystem } from './system.ts';

/** Finds out what confines a server with this config, and tries each guard. */
export async function examine(config: Config, backend: Backend): Promise<Finding[]> {
  return [
    ...examineSystem(backend),
    ...(await proveFence(backend)),
    ...(await proveGuards(backend)),
    ...(await proveLandlock(config)),
    ...config.roots.flatMap((root) => (root.path === undefined ? [] : examineRoot(root, backend))),
  ];
}
