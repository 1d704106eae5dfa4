import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { MemoryStore } from '../../cluster/memory-store.ts';
import { StoreUnavailable } from '../../cluster/shared-store.ts';
import { outcome } from '../../fence/sandbox.fixture.ts';
import { CancelledError, DEFAULT_CONTEXT } from '../../runtime/operation-context.ts';
import type { LeaseStore } from './lease-store.ts';
import { Leases } from './leases.ts';

afterEach(() => void vi.useRealTimers());

/** A store that can be gone for a while. */
class FlakyStore implements LeaseStore {
  isGone = false;
  readonly ttls: number[] = [];
  handedOn = 0;
  readonly #store = new MemoryStore();

  async acquireLease(key: string, ttlMs: number) {
    this.ttls.push(ttlMs);
    if (this.isGone) throw new StoreUnavailable('unreachable');
    return this.#store.acquireLease(key, ttlMs);
  }

  async renewLease(key: string, token: number, ttlMs: number) {
    return this.#store.renewLease(key, token, ttlMs);
  }

  async leaseNote(key: string) {
    return this.#store.leaseNote(key);
  }

  async releaseLease(key: string, token: number, note?: string) {
    return this.#store.releaseLease(key, token, note);
  }

  async handOnLease(key: string, token: number, note: string, ttlMs: number) {
    this.handedOn += 1;
    if (this.isGone) throw new StoreUnavailable('unreachable');
    return this.#store.handOnLease(key, token, note, ttlMs);
  }
}

const waiting = (signal = DEFAULT_CONTEXT.signal) => ({ signal, deadline: performance.now() + 20_000 });

test('a file is locked for at most ten seconds by a server that has died', async () => {
  const store = new FlakyStore();
  await new Leases(store).acquire('f', waiting());
  expect(store.ttls).toHaveLength(1);
  expect(store.ttls[0]).toBeLessThanOrEqual(10_000);
});

test('an outage that no call has met for a while is over, so the next one is waited for again', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const store = new FlakyStore();
  const leases = new Leases(store);
  store.isGone = true;
  const first = outcome(leases.acquire('f', waiting()));
  await sleep(10);
  vi.advanceTimersByTime(5_000);
  expect(await first).toBe('coordination_unavailable');
  // For as long as calls meet it, it is the same outage.
  for (let seconds = 0; seconds < 60; seconds += 20) {
    vi.advanceTimersByTime(20_000);
    const asked = store.ttls.length;
    expect(await outcome(leases.acquire('f', waiting()))).toBe('coordination_unavailable');
    expect(store.ttls.length).toBe(asked + 1);
  }
  vi.advanceTimersByTime(31_000);
  const blip = leases.acquire('f', waiting());
  await sleep(10);
  store.isGone = false;
  expect(await blip).toMatchObject({ granted: true });
});

test('who waits for a lease, or for the store, stops when the call is cancelled', async () => {
  const store = new FlakyStore();
  const leases = new Leases(store);
  const cancel = async () => {
    const cancelled = new AbortController();
    const started = performance.now();
    const result = outcome(leases.acquire('f', waiting(cancelled.signal)));
    await sleep(20);
    cancelled.abort(new CancelledError());
    expect(await result).toBe('cancelled');
    // Less than an outage is waited for.
    expect(performance.now() - started).toBeLessThan(3_000);
  };
  await leases.acquire('f', waiting());
  await cancel();
  store.isGone = true;
  await cancel();
});

test('calls wait for the one before them, and get what it has, or fail as it does', async () => {
  const store = new FlakyStore();
  const leases = new Leases(store);
  const first = await leases.acquire('f', waiting());
  const second = leases.acquire('f', waiting());
  const third = leases.acquire('f', waiting());
  const late = outcome(leases.acquire('f', { ...waiting(), deadline: performance.now() + 30 }));
  expect(await late).toBe('busy');
  leases.ready('f');
  await leases.release('f', first.token, 'left');
  const handedOn = await second;
  expect(handedOn.note).toBe('left');
  expect(handedOn.token).toBeGreaterThan(first.token);
  // Without a note nobody knows what is there: the next one asks.
  await leases.release('f', handedOn.token, undefined);
  expect((await third).note).toBe('');
  expect(store.handedOn).toBe(1);
  // What is handed on when nobody waits any more is given back.
  const cancelled = new AbortController();
  const fourth = outcome(leases.acquire('f', waiting(cancelled.signal)));
  leases.ready('f');
  const released = leases.release('f', (await third).token, 'left again');
  cancelled.abort(new CancelledError());
  expect(await fourth).toBe('cancelled');
  await released;
  expect(await store.acquireLease('f', 1_000)).toMatchObject({ granted: true, note: 'left again' });
});

test('an answer that a lease is held counts for no longer than the lease lasts', async () => {
  const store = new FlakyStore();
  const leases = new Leases(store, { leaseMs: 200 });
  const { token } = await leases.acquire('f', waiting());
  const { signal } = DEFAULT_CONTEXT;
  expect(await leases.renew('f', token, signal)).toBe(true);
  const renewLease = store.renewLease.bind(store);
  vi.spyOn(store, 'renewLease').mockImplementationOnce(async (...args) => {
    const isHeld = await renewLease(...args);
    await sleep(250);
    return isHeld;
  });
  expect(await leases.renew('f', token, signal)).toBe(false);
});

test('calls that wait for a store that has been gone for seconds fail together', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const store = new FlakyStore();
  const leases = new Leases(store);
  store.isGone = true;
  const all = Promise.all(Array.from({ length: 20 }, () => outcome(leases.acquire('f', waiting()))));
  await sleep(10);
  vi.advanceTimersByTime(5_000);
  expect(new Set(await all)).toEqual(new Set(['coordination_unavailable']));
  expect(store.ttls.length).toBeLessThan(10);
  store.isGone = false;
  expect(await leases.acquire('f', waiting())).toMatchObject({ granted: true });
});
