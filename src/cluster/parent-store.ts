import { atMost } from '../runtime/at-most.ts';
import type { ProcessChannel } from '../runtime/process-channel.ts';
import type { Listener } from './channel-listeners.ts';
import {
  type BlobEntry,
  type BlobLimits,
  type LeaseGrant,
  type SetOptions,
  type SharedStore,
  StoreUnavailable,
  type TokenRate,
  type Unsubscribe,
} from './shared-store.ts';

/** How long the parent may take to answer. */
const ANSWER_MS = 1_000;

/** A `SharedStore` that the parent of this process keeps for all its workers, by `serveStore`. */
export class ParentStore implements SharedStore {
  readonly #channel: ProcessChannel;
  readonly #listeners = new Map<number, Listener>();
  #lastSubscription = 0;
  #isClosed = false;

  constructor(channel: ProcessChannel) {
    this.#channel = channel;
    channel.onNotice('store message', ([subscription, message]) =>
      this.#listeners.get(subscription as number)?.(message as string),
    );
  }

  takeTokens(key: string, rate: TokenRate, count: number): Promise<number> {
    return this.#ask('takeTokens', key, rate, count);
  }

  async get(key: string): Promise<Buffer | undefined> {
    return toBuffer(await this.#ask('get', key));
  }

  set(key: string, value: string | Buffer, options: SetOptions): Promise<void> {
    return this.#ask('set', key, value, options);
  }

  increment(key: string, amount: number, ttlMs: number): Promise<number> {
    return this.#ask('increment', key, amount, ttlMs);
  }

  putBlob(owner: string, key: string, blob: Buffer, limits: BlobLimits): Promise<string | undefined> {
    return this.#ask('putBlob', owner, key, blob, limits);
  }

  async getBlob(owner: string, key: string): Promise<Buffer | undefined> {
    return toBuffer(await this.#ask('getBlob', owner, key));
  }

  listBlobs(owner: string): Promise<readonly BlobEntry[]> {
    return this.#ask('listBlobs', owner);
  }

  deleteBlobs(owner: string, key?: string): Promise<void> {
    return this.#ask('deleteBlobs', owner, key);
  }

  publish(channel: string, message: string): Promise<number> {
    return this.#ask('publish', channel, message);
  }

  async subscribe(channel: string, listener: Listener): Promise<Unsubscribe> {
    this.#lastSubscription += 1;
    const subscription = this.#lastSubscription;
    this.#listeners.set(subscription, listener);
    // Notices, not calls, which may fail: the parent reads them before whatever this process asks of it next.
    this.#channel.notify('store subscribe', subscription, channel);
    return async () => this.#unsubscribe(subscription);
  }

  acquireLease(key: string, ttlMs: number, owner?: string): Promise<LeaseGrant> {
    return this.#ask('acquireLease', key, ttlMs, owner);
  }

  renewLease(key: string, token: number, ttlMs: number): Promise<boolean> {
    return this.#ask('renewLease', key, token, ttlMs);
  }

  leaseNote(key: string): Promise<string | undefined> {
    return this.#ask('leaseNote', key);
  }

  releaseLease(key: string, token: number, note?: string): Promise<boolean> {
    return this.#ask('releaseLease', key, token, note);
  }

  handOnLease(key: string, token: number, note: string, ttlMs: number): Promise<LeaseGrant> {
    return this.#ask('handOnLease', key, token, note, ttlMs);
  }

  missing(): readonly string[] {
    return [];
  }

  onRestored(): void {
    // A worker ends with its parent, so it never finds the parent's store again after a loss.
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const subscription of [...this.#listeners.keys()]) this.#unsubscribe(subscription);
  }

  #unsubscribe(subscription: number): void {
    if (this.#listeners.delete(subscription)) this.#channel.notify('store unsubscribe', subscription);
  }

  async #ask<T>(operation: string, ...args: readonly unknown[]): Promise<T> {
    if (this.#isClosed) throw new StoreUnavailable('unreachable');
    const answered = this.#channel.call<T>('store', operation, ...args).catch((error: unknown) => {
      throw new StoreUnavailable('unreachable', error);
    });
    return atMost(ANSWER_MS, answered, () => {
      throw new StoreUnavailable('timed_out');
    });
  }
}

/** Bytes arrive as those of a `Buffer`, but may be of its base class. */
function toBuffer(bytes: Uint8Array | undefined): Buffer | undefined {
  return bytes && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
