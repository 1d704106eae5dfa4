import type { Valkey } from 'iovalkey';
import { RedisConnection } from './redis-connection.ts';
import type { ScriptName } from './redis-scripts.ts';
import {
  type BlobEntry,
  type BlobLimits,
  type LeaseGrant,
  NOTE_TTL_MS,
  type SetOptions,
  type SharedStore,
  type StoreProblem,
  type TokenRate,
  UNRELEASED_TTL_MS,
  type Unsubscribe,
} from './shared-store.ts';
import { Subscriptions } from './subscriptions.ts';

type ScriptArguments = readonly (string | number | Buffer)[];
type ScriptCommands = Record<ScriptName, (...args: ScriptArguments) => Promise<unknown>> &
  Record<`${ScriptName}Buffer`, (...args: ScriptArguments) => Promise<unknown>>;

/** Options of a `RedisStore`. */
export interface RedisStoreOptions {
  /** `redis://` or `rediss://` for TLS, with user, password, host, port and the number of the database. */
  readonly url: string;
  /** Called once when the store becomes unavailable. */
  readonly lost?: ((problem: StoreProblem) => void) | undefined;
  /** Called once when it can be used again. */
  readonly back?: (() => void) | undefined;
}

/** For how long after a start of Redis the last holder of a lease is not known: longer than machines cache files. */
const UNKNOWN_MS = 10_000;
/** For how long after that a server may still be stopped that held a lease before. */
const FORGOTTEN_MS = 3_600_000;
/** How long the counter stays that the probe adds to. Nobody reads it. */
const PROBE_TTL_MS = 1_000;
/** The key of the last fencing token. */
const LAST_TOKEN = 'token';
/** The key of the last version of a blob. */
const LAST_VERSION = 'version';

/** The key of the owners of blobs. */
const OWNERS = 'owners';

/** A `SharedStore` on {@link https://valkey.io Valkey} or Redis 6.2 or newer. */
export class RedisStore implements SharedStore {
  readonly #commands: RedisConnection;
  readonly #subscriptions: Subscriptions;
  readonly #prefix: string;
  readonly #restored: (() => void)[] = [];

  constructor({ url, lost = () => {}, back = () => {} }: RedisStoreOptions) {
    // Channels are common to all databases of a server; their names tell them apart.
    this.#prefix = `ringfence:${new URL(url).pathname.slice(1) || '0'}:`;
    const channel = this.#key('channel', 'probe');
    // What a user of Redis may not do, or not with these names, has to fail here, too, or it would be reported as back.
    const probe = async (redis: Valkey): Promise<void> => {
      const scripts = redis as unknown as ScriptCommands;
      await scripts.ringfenceIncrement(this.#key('probe', 'counter'), 1, PROBE_TTL_MS);
      await redis.publish(channel, '');
    };
    const restored = (): void => {
      for (const listener of this.#restored) listener();
    };
    this.#commands = new RedisConnection({
      url,
      probe,
      lost,
      back: () => {
        back();
        restored();
      },
    });
    let wasConnected = false;
    this.#commands.onReady(async () => {
      // If the server was started again between two commands, none has failed: the new connection is the only sign of
      // it. After a command has failed, `back` is called.
      if (wasConnected && this.#commands.problem === undefined) restored();
      wasConnected = true;
    });
    // All channels, so that those that were refused are subscribed to once that is allowed.
    const subscribe = (redis: Valkey) => redis.subscribe(channel, ...this.#subscriptions.channels);
    this.#subscriptions = new Subscriptions(
      () => new RedisConnection({ url, probe: subscribe, lost: () => {}, back: () => {} }),
    );
  }

  async takeTokens(key: string, { perSecond, burst }: TokenRate, count: number): Promise<number> {
    return Number(await this.#script('ringfenceTakeTokens', [this.#key('bucket', key), perSecond, burst, count]));
  }

  async get(key: string): Promise<Buffer | undefined> {
    return (await this.#commands.run((redis) => redis.getBuffer(this.#key('value', key)))) ?? undefined;
  }

  async set(key: string, value: string | Buffer, { ttlMs }: SetOptions): Promise<void> {
    await this.#commands.run((redis) => redis.set(this.#key('value', key), value, 'PX', whole(ttlMs)));
  }

  async increment(key: string, amount: number, ttlMs: number): Promise<number> {
    return Number(await this.#script('ringfenceIncrement', [this.#key('counter', key), amount, whole(ttlMs)]));
  }

  async putBlob(owner: string, key: string, blob: Buffer, limits: BlobLimits): Promise<string | undefined> {
    const { maxBytes, maxEntries, ttlMs } = limits;
    if (blob.length > maxBytes) return undefined;
    const keys = [...this.#blobKeys(owner), this.#key(OWNERS), this.#key(LAST_VERSION)];
    const args = [owner, `=${key}`, blob, maxBytes, maxEntries, whole(ttlMs)];
    return String(await this.#script('ringfencePutBlob', [...keys, ...args]));
  }

  async getBlob(owner: string, key: string): Promise<Buffer | undefined> {
    const keys = [...this.#blobKeys(owner), this.#key(OWNERS)];
    const blob = await this.#script('ringfenceGetBlobBuffer', [...keys, owner, `=${key}`]);
    return (blob as Buffer | null) ?? undefined;
  }

  async listBlobs(owner: string): Promise<readonly BlobEntry[]> {
    const list = (await this.#script('ringfenceListBlobs', this.#blobKeys(owner))) as string[];
    return Array.from({ length: list.length / 2 }, (_, i) => ({
      key: (list[2 * i] ?? '').slice(1),
      version: list[2 * i + 1] ?? '',
    }));
  }

  async deleteBlobs(owner: string, key?: string): Promise<void> {
    const keys = this.#blobKeys(owner);
    if (key === undefined) await this.#script('ringfenceDeleteOwner', [...keys, this.#key(OWNERS), owner]);
    else await this.#script('ringfenceDeleteBlob', [...keys, `=${key}`]);
  }

  async publish(channel: string, message: string): Promise<number> {
    return this.#commands.run((redis) => redis.publish(this.#key('channel', channel), message));
  }

  subscribe(channel: string, listener: (message: string) => void): Promise<Unsubscribe> {
    return this.#subscriptions.add(this.#key('channel', channel), listener);
  }

  async acquireLease(key: string, ttlMs: number, owner = ''): Promise<LeaseGrant> {
    const [lease, ...notes] = this.#leaseKeys(key);
    const keys = [lease, this.#key(LAST_TOKEN), ...notes, this.#key('run')];
    const args = [whole(ttlMs), UNRELEASED_TTL_MS, owner, UNKNOWN_MS, FORGOTTEN_MS];
    const answer = await this.#script('ringfenceAcquireLease', [...keys, ...args]);
    const [token, note, forgotten] = answer as [string?, (string | null)?, (number | null)?];
    if (token === undefined) return { granted: false };
    return { granted: true, token: Number(token), note: note ?? undefined, hasForgotten: forgotten === 1 };
  }

  async renewLease(key: string, token: number, ttlMs: number): Promise<boolean> {
    return (await this.#script('ringfenceRenewLease', [this.#key('lease', key), token, whole(ttlMs)])) === 1;
  }

  async leaseNote(key: string): Promise<string | undefined> {
    const noted = await this.#commands.run((redis) => redis.get(this.#key('note', key)));
    // Behind the token of who has left it.
    return noted?.slice(noted.indexOf(' ') + 1);
  }

  async releaseLease(key: string, token: number, note?: string): Promise<boolean> {
    const left = note === undefined ? [] : [note, NOTE_TTL_MS];
    return (await this.#script('ringfenceReleaseLease', [...this.#leaseKeys(key), token, ...left])) === 1;
  }

  async handOnLease(key: string, token: number, note: string, ttlMs: number): Promise<LeaseGrant> {
    const [lease, ...notes] = this.#leaseKeys(key);
    const ttls = [NOTE_TTL_MS, UNRELEASED_TTL_MS, whole(ttlMs)];
    const keys = [lease, this.#key(LAST_TOKEN), ...notes];
    const [granted] = (await this.#script('ringfenceHandOnLease', [...keys, token, note, ...ttls])) as [string?];
    return granted === undefined ? { granted: false } : { granted: true, token: Number(granted), note };
  }

  onRestored(listener: () => void): void {
    this.#restored.push(listener);
  }

  missing(): readonly string[] {
    const problem = this.#commands.problem ?? this.#subscriptions.problem;
    return problem === undefined ? [] : [`redis (${problem.replace('_', ' ')})`];
  }

  async close(): Promise<void> {
    this.#commands.close();
    this.#subscriptions.close();
  }

  #script(name: keyof ScriptCommands, args: ScriptArguments): Promise<unknown> {
    return this.#commands.run((redis: Valkey) => (redis as unknown as ScriptCommands)[name](...args));
  }

  #key(kind: string, name = ''): string {
    return `${this.#prefix}${kind}:${name}`;
  }

  #leaseKeys(key: string): [lease: string, note: string, outdated: string] {
    return [this.#key('lease', key), this.#key('note', key), this.#key('outdated', key)];
  }

  #blobKeys(owner: string): [string, string, string] {
    return [this.#key('blobs', owner), this.#key('versions', owner), this.#key('uses', owner)];
  }
}

/** Redis takes whole milliseconds only, and none would mean that the entry is gone at once. */
function whole(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds));
}
