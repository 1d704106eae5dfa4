import { FileCache } from '../cache/file-cache.ts';
import type { SecurityPolicy } from '../policy/security-policy.ts';
import type { BridgeEvent } from './bridge-event.ts';
import { FilesystemBridge, type FilesystemBridgeOptions } from './filesystem-bridge.ts';

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
  #evictions = 0;

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

  /** Drops a client's bridge with everything in it. Returns false if there was none. */
  drop(clientKey: string): boolean {
    return this.#bridges.delete(clientKey);
  }

  /** Returns how many partitions there are and what they hold. */
  stats(): PartitionStats {
    const { maxTotalBytes } = this.#options;
    return { partitions: this.#bridges.size, bytes: this.#bytes(), maxTotalBytes, evictions: this.#evictions };
  }

  #make(clientKey: string): FilesystemBridge {
    const { cacheBytes, maxTotalBytes, audit, ...options } = this.#options;
    return new FilesystemBridge({
      ...options,
      cache: new FileCache({ maxBytes: Math.min(cacheBytes, maxTotalBytes), now: options.now }),
      audit: audit && ((event) => audit(event, clientKey)),
      onGrowth: () => this.#trim(clientKey),
    });
  }

  /** Evicts other bridges until the limits hold: idle ones first, then those with pending questions. */
  #trim(inUse: string): void {
    const { maxTotalBytes, maxPartitions = MAX_PARTITIONS } = this.#options;
    let bytes = this.#bytes();
    const others = [...this.#bridges].filter(([key]) => key !== inUse);
    for (const [key, bridge] of [...others.filter(([, { busy }]) => !busy), ...others.filter(([, { busy }]) => busy)]) {
      if (bytes <= maxTotalBytes && this.#bridges.size <= maxPartitions) return;
      bytes -= bridge.heldBytes;
      this.#bridges.delete(key);
      this.#evictions += 1;
    }
    // The cache of the remaining bridge is within the limit by itself, but not always together with its incomplete
    // chunk sets.
    if (bytes > maxTotalBytes) this.#bridges.get(inUse)?.dropChunks();
  }

  #bytes(): number {
    return [...this.#bridges.values()].reduce((sum, bridge) => sum + bridge.heldBytes, 0);
  }
}
