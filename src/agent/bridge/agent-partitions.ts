import { FileCache } from '../cache/file-cache.ts';
import type { SecurityPolicy } from '../policy/security-policy.ts';
import type { BridgeEvent } from './bridge-event.ts';
import { FilesystemBridge, type FilesystemBridgeOptions } from './filesystem-bridge.ts';
import { type PartitionStore, PartitionSync } from './partition-sync.ts';

/** The options of an `AgentPartitions`; those of its bridges apply to every client. */
export interface AgentPartitionsOptions
  extends Pick<FilesystemBridgeOptions, 'rootName' | 'timeoutMs' | 'maxTokens' | 'chunkTtlMs' | 'now'> {
  readonly policy: SecurityPolicy;
  /** The cache size of one client, in bytes. */
  readonly cacheBytes: number;
  /** The limit for all clients together, in bytes. */
  readonly maxTotalBytes: number;
  /** How many clients have a bridge at once; 1,000 by default. */
  readonly maxPartitions?: number | undefined;
  /** Returns where the replicas of this server keep the files of a client; undefined if there are none. @internal */
  readonly storeFor?: ((clientKey: string) => PartitionStore) | undefined;
  /** Called after every operation of every bridge. */
  readonly audit?: ((event: BridgeEvent, clientKey: string) => void) | undefined;
}

/** What all partitions hold together. */
export interface PartitionStats {
  readonly partitions: number;
  readonly bytes: number;
  readonly maxTotalBytes: number;
  /** How many partitions were evicted. */
  readonly evictions: number;
  /** The number of files and listings in all caches. */
  readonly entries: number;
  /** Lookups of all clients so far that found a file, or did not. */
  readonly hits: number;
  readonly misses: number;
  /** Files and listings that were evicted so far to make room for others of the same client. */
  readonly evictedEntries: number;
}

const MAX_PARTITIONS = 1000;

/**
 * Gives each client a `FilesystemBridge` of its own, so that no client sees the files of another. When there are too
 * many bridges, or they hold too many bytes, the least recently used is evicted (LRU).
 */
export class AgentPartitions {
  readonly policy: SecurityPolicy;
  readonly #options: AgentPartitionsOptions;
  /** From the least to the most recently used. */
  readonly #bridges = new Map<string, FilesystemBridge>();
  readonly #syncs = new WeakMap<FilesystemBridge, PartitionSync>();
  #evictions = 0;
  /** What the caches counted that are gone. */
  readonly #past = { hits: 0, misses: 0, evictedEntries: 0 };

  constructor(options: AgentPartitionsOptions) {
    this.policy = options.policy;
    this.#options = options;
  }

  /** Returns the bridge of a client, and creates it on first use. May evict other clients' bridges. */
  of(clientKey: string): FilesystemBridge {
    const bridge = this.#bridges.get(clientKey) ?? this.#make(clientKey);
    this.#bridges.delete(clientKey);
    this.#bridges.set(clientKey, bridge);
    this.#trim(clientKey);
    return bridge;
  }

  /** Returns what keeps the files of a client the same in all replicas; undefined if there are none. @internal */
  syncOf(clientKey: string): PartitionSync | undefined {
    return this.#options.storeFor && this.#syncs.get(this.of(clientKey));
  }

  /** Drops a client's bridge with everything in it. Returns false if there was none. */
  drop(clientKey: string): boolean {
    return this.#delete(clientKey);
  }

  /** Drops a client's bridge, and what the replicas keep of the client. */
  async forget(clientKey: string): Promise<void> {
    this.drop(clientKey);
    await this.#options.storeFor?.(clientKey).delete();
  }

  /** Returns how many partitions there are and what they hold. */
  stats(): PartitionStats {
    const { maxTotalBytes } = this.#options;
    const counts = { ...this.#past };
    let entries = 0;
    for (const { cache } of this.#bridges.values()) {
      entries += cache.size;
      addCounters(counts, cache);
    }
    const partitions = this.#bridges.size;
    return { partitions, bytes: this.#bytes(), maxTotalBytes, evictions: this.#evictions, entries, ...counts };
  }

  #make(clientKey: string): FilesystemBridge {
    const { cacheBytes, maxTotalBytes, audit, storeFor, ...options } = this.#options;
    const bridge = new FilesystemBridge({
      ...options,
      cache: new FileCache({ maxBytes: Math.min(cacheBytes, maxTotalBytes), now: options.now }),
      audit: audit && ((event) => audit(event, clientKey)),
      onGrowth: () => this.#trim(clientKey),
    });
    if (storeFor !== undefined) this.#syncs.set(bridge, new PartitionSync(bridge, storeFor(clientKey), options));
    return bridge;
  }

  /** Evicts other bridges until the limits hold: idle ones first, then those with pending questions. */
  #trim(inUse: string): void {
    const { maxTotalBytes, maxPartitions = MAX_PARTITIONS } = this.#options;
    let bytes = this.#bytes();
    const others = [...this.#bridges].filter(([key]) => key !== inUse);
    for (const [key, bridge] of [...others.filter(([, { busy }]) => !busy), ...others.filter(([, { busy }]) => busy)]) {
      if (bytes <= maxTotalBytes && this.#bridges.size <= maxPartitions) return;
      bytes -= bridge.heldBytes;
      this.#delete(key);
      this.#evictions += 1;
    }
    // The cache of the remaining bridge is within the limit by itself, but not always together with its incomplete
    // chunk sets.
    if (bytes > maxTotalBytes) this.#bridges.get(inUse)?.dropChunks();
  }

  /** Removes a bridge and keeps its counters. Returns false if there is none. */
  #delete(clientKey: string): boolean {
    const bridge = this.#bridges.get(clientKey);
    if (bridge !== undefined) addCounters(this.#past, bridge.cache);
    return this.#bridges.delete(clientKey);
  }

  #bytes(): number {
    return [...this.#bridges.values()].reduce((sum, bridge) => sum + bridge.heldBytes, 0);
  }
}

function addCounters(sum: { hits: number; misses: number; evictedEntries: number }, { counters }: FileCache): void {
  sum.hits += counters.hits;
  sum.misses += counters.misses;
  sum.evictedEntries += counters.evictions;
}
