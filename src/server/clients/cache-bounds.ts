import type { Config } from '../../config/config.ts';

/** Cache limit of all clients together, as a multiple of one client's limit. */
export const FULL_CACHES = 16;

/** Returns how many bytes of client-side files are kept at most for all clients together. */
export function cacheBytesOfAll({ roots, dialects }: Pick<Config, 'roots' | 'dialects'>): number {
  const limits = [...roots.map(({ agent }) => agent), ...dialects.map(({ project }) => project)];
  return FULL_CACHES * limits.reduce((sum, limit) => sum + (limit?.cacheBytes ?? 0), 0);
}
