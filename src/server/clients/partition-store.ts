import type { PartitionStore } from '../../agent/bridge/partition-sync.ts';
import type { SharedStore } from '../../cluster/shared-store.ts';

/** How long the files of a client are kept that does not call any more. */
const KEEP_MS = 24 * 60 * 60_000;
/** How long the files of a client without an identity are kept, which lasts for one call. */
const KEEP_ANONYMOUS_MS = 10 * 60_000;
/** As many as a cache of one process holds, and chunks of files that are not complete. */
const MAX_ENTRIES = 20_000;

/** Returns where the replicas keep the files of one client and root. */
export function partitionStore(
  store: SharedStore,
  clientKey: string,
  { name, cacheBytes }: { readonly name: string; readonly cacheBytes: number },
): PartitionStore {
  const owner = JSON.stringify([clientKey, name]);
  const ttlMs = clientKey.startsWith('anonymous:') ? KEEP_ANONYMOUS_MS : KEEP_MS;
  const limits = { maxBytes: cacheBytes, maxEntries: MAX_ENTRIES, ttlMs };
  return {
    put: (key, blob) => store.putBlob(owner, key, blob, limits),
    get: (key) => store.getBlob(owner, key),
    list: () => store.listBlobs(owner),
    delete: (key) => store.deleteBlobs(owner, key),
  };
}
