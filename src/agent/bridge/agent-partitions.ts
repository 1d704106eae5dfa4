import { FileCache } from '../cache/file-cache.ts';
import type { SecurityPolicy } from '../policy/security-policy.ts';
import type { BridgeEvent } from './bridge-event.ts';
import { FilesystemBridge, type FilesystemBridgeOptions } from './filesystem-bridge.ts';

export interface AgentPartitionsOptions
  extends Pick<FilesystemBridgeOptions, 'timeoutMs' | 'maxTokens' | 'chunkTtlMs' | 'now'> {
  readonly policy: SecurityPolicy;
  /** What one client may have kept. */
  readonly cacheBytes: number;
  /** What all clients together may have kept. */
  readonly maxTotalBytes: number;
  /** How many clients are remembered; 1,000 by default. */
  readonly maxPartitions?: number | undefined;
  readonly audit?: ((event: BridgeEvent, clientKey: string) => void) | undefined;
}

export interface PartitionStats {
  readonly partitions: number;
  readonly bytes: number;
  readonly maxTotalBytes: number;
  /** Partitions that gave way to others. */
  readonly evictions: number;
}

const MAX_PARTITIONS = 1000;

/** A bridge for each client, so that no client ever sees what another handed over. The one unused for longest gives way. */
export class AgentPartitions {
  readonly policy: SecurityPolicy;
  readonly #options: AgentPartitionsOptions;
  /** In the order of use. */
  readonly #bridges = new Map<string, FilesystemBridge>();
  #evictions = 0;

  constructor(options: AgentPartitionsOptions) {
    this.policy = options.policy;
    this.#options = options;
  }

  /** This client's bridge, made on first use. */
  of(clientKey: string): FilesystemBridge {
    const bridge = this.#bridges.get(clientKey) ?? this.#make(clientKey);
    this.#bridges.delete(clientKey);
    this.#bridges.set(clientKey, bridge);
    this.#trim(clientKey);
    return bridge;
  }

  /** Forgets a client and all it handed over. */
  drop(clientKey: string): boolean {
    return this.#bridges.delete(clientKey);
  }

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

  /** Makes room for the one in use: idle ones give way first, then those that wait for an answer. */
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
    // The cache alone never holds more than this; together with what waits for its chunks, it can.
    if (bytes > maxTotalBytes) this.#bridges.get(inUse)?.dropChunks();
  }

  #bytes(): number {
    return [...this.#bridges.values()].reduce((sum, bridge) => sum + bridge.heldBytes, 0);
  }
}
