import type { Logger } from 'pino';
import { RedisStore } from '../../cluster/redis-store.ts';
import type { SharedStore } from '../../cluster/shared-store.ts';
import type { ClusterConfig } from '../../config/config.ts';

/** Opens what the replicas have in common. Does not wait for it: without it, a server goes on with what is safe. */
export function openStore({ redis }: Pick<ClusterConfig, 'redis'>, logger: Logger): SharedStore {
  return new RedisStore({
    url: redis,
    lost: (problem) =>
      logger.warn({ problem }, 'redis is not available; what needs it is refused or kept by this replica'),
    back: () => logger.info('redis is available again'),
  });
}
