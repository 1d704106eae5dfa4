import { randomUUID } from 'node:crypto';
import { type SharedStore, StoreUnavailable, type Unsubscribe } from '../../../cluster/shared-store.ts';
import type { Approval } from '../model/api-types.ts';
import type { Viewer, Viewers } from '../model/viewers.ts';
import { type ApprovalMessage, approvalMessage, type Sent } from './approval-messages.ts';
import { type Accepted, type ApprovalQueue, type PendingApprovals, refusalOf, shownTo } from './approval-queue.ts';

/** How often it is looked whether other calls wait than before. */
const TICK_MS = 200;
/** After how long the others are told again, so that a replica that missed it learns of it. */
const REPEAT_MS = 1_000;
/** For how long the calls of a replica are shown that says nothing more. */
const SILENT_MS = 5_000;
/** How long a replica may take to say what became of an answer. */
const CONFIRM_MS = 2_000;
const EVERYONE = 'approvals';

interface Replica {
  readonly calls: Sent<'waiting'>['calls'];
  readonly heard: number;
}

/**
 * The calls that wait in all replicas. Each tells the others which calls wait with it. An answer is sent to the replica
 * where its call waits, which alone decides whether it counts, by its own config. Without the store, a replica has its
 * own calls only. It lasts until `close`, so that calls of a server that is stopping can be answered elsewhere.
 */
export class SharedApprovals implements PendingApprovals {
  readonly #own: ApprovalQueue;
  readonly #viewers: Viewers;
  readonly #store: SharedStore;
  readonly #id = randomUUID();
  readonly #subscriptions: readonly Promise<Unsubscribe>[];
  readonly #timer: NodeJS.Timeout;
  readonly #others = new Map<string, Replica>();
  /** Those who wait for what became of an answer, by request. */
  readonly #asking = new Map<string, (accepted: Accepted) => void>();
  /** What the others were told last, and when. */
  #told = '';
  #toldAt = 0;

  constructor(own: ApprovalQueue, viewers: Viewers, store: SharedStore) {
    this.#own = own;
    this.#viewers = viewers;
    this.#store = store;
    // Whoever gave an answer that cannot be confirmed is told so there.
    const receive = (text: string): void => void this.#receive(text).catch(() => {});
    this.#subscriptions = [EVERYONE, this.#id].map((channel) => store.subscribe(channel, receive));
    this.#timer = setInterval(() => this.#tell(), TICK_MS).unref();
  }

  /**
   * Stops telling and hearing what waits. Call it before the store is closed. Does not wait for the store, which may
   * hang.
   */
  close(): void {
    clearInterval(this.#timer);
    for (const subscription of this.#subscriptions) void subscription.then((unsubscribe) => unsubscribe());
  }

  list(viewer: Viewer): Approval[] {
    const others = [...this.#liveReplicas().values()].flatMap(({ calls }) => shownTo(viewer, calls));
    return [...this.#own.list(viewer), ...others].sort((one, other) => one.time - other.time);
  }

  async answer(viewer: Viewer, id: string, agrees: boolean): Promise<Accepted> {
    const accepted = await this.#own.answer(viewer, id, agrees);
    if (accepted !== 'gone') return accepted;
    for (const [replica, { calls }] of this.#liveReplicas()) {
      const call = calls.find((each) => each.id === id);
      if (call === undefined) continue;
      const refusal = refusalOf(viewer, call);
      return refusal ?? this.#passOn(replica, { id, agrees, viewer: { name: viewer.name, sha256: viewer.sha256 } });
    }
    return 'gone';
  }

  /** Returns the other replicas that have sent a message within `SILENT_MS`, and forgets the rest. */
  #liveReplicas(): ReadonlyMap<string, Replica> {
    const since = performance.now() - SILENT_MS;
    for (const [id, { heard }] of this.#others) if (heard < since) this.#others.delete(id);
    return this.#others;
  }

  async #passOn(replica: string, answer: Pick<Sent<'answer'>, 'id' | 'agrees' | 'viewer'>): Promise<Accepted> {
    const request = randomUUID();
    let timer: NodeJS.Timeout | undefined;
    const confirmed = new Promise<Accepted>((resolve) => {
      this.#asking.set(request, resolve);
      timer = setTimeout(() => resolve('unconfirmed'), CONFIRM_MS);
    });
    try {
      await this.#send(replica, { kind: 'answer', from: this.#id, request, ...answer });
      const accepted = await confirmed;
      if (accepted === 'done' || accepted === 'gone') this.#forget(replica, answer.id);
      return accepted;
    } catch (error) {
      if (error instanceof StoreUnavailable) return 'unconfirmed';
      throw error;
    } finally {
      clearTimeout(timer);
      this.#asking.delete(request);
    }
  }

  #forget(replica: string, id: string): void {
    const known = this.#others.get(replica);
    if (known) this.#others.set(replica, { ...known, calls: known.calls.filter((call) => call.id !== id) });
  }

  #tell(): void {
    const calls = this.#own.waiting();
    const ids = calls.map(({ id }) => id).join();
    const now = performance.now();
    if (ids === this.#told && (ids === '' || now < this.#toldAt + REPEAT_MS)) return;
    this.#told = ids;
    this.#toldAt = now;
    // What is lost is repeated, and what is over is forgotten after a while.
    this.#send(EVERYONE, { kind: 'waiting', from: this.#id, calls }).catch(() => {});
  }

  /** Handles a message. What a replica of another version may send is passed over if it is not known here. */
  async #receive(text: string): Promise<void> {
    const { data } = approvalMessage.safeParse(JSON.parse(text));
    if (data?.kind === 'waiting' && data.from !== this.#id)
      this.#others.set(data.from, { calls: data.calls, heard: performance.now() });
    if (data?.kind === 'accepted') this.#asking.get(data.request)?.(data.accepted);
    if (data?.kind !== 'answer') return;
    const viewer = this.#viewers.current(data.viewer);
    const accepted = viewer === undefined ? 'gone' : await this.#own.answer(viewer, data.id, data.agrees);
    if (accepted !== 'unconfirmed') await this.#send(data.from, { kind: 'accepted', request: data.request, accepted });
  }

  #send(channel: string, sent: ApprovalMessage): Promise<number> {
    return this.#store.publish(channel, JSON.stringify(sent));
  }
}
