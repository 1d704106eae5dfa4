import { RedisStore } from '../../cluster/redis-store.ts';
import type { SharedStore } from '../../cluster/shared-store.ts';
import type { ClusterConfig } from '../../config/config.ts';
import type { OutageListener } from './store-outage.ts';

/** Opens what the replicas have in common. Does not wait for it: without it, a server goes on with what is safe. */
export function openStore({ redis }: Pick<ClusterConfig, 'redis'>, { lost, back }: OutageListener): SharedStore {
  return new RedisStore({ url: redis, lost, back });
}
