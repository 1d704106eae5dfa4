import type { ProcessChannel } from '../runtime/process-channel.ts';
import type { SharedStore, Unsubscribe } from './shared-store.ts';

type Operation = (...args: readonly unknown[]) => Promise<unknown>;

/** Lets the process at the other end of a channel use a store, by `ParentStore`. Returns what ends its subscriptions. */
export function serveStore(store: SharedStore, channel: ProcessChannel): () => void {
  const subscriptions = new Map<number, Unsubscribe>();
  const unsubscribe = async (id: number): Promise<void> => {
    const end = subscriptions.get(id);
    subscriptions.delete(id);
    await end?.();
  };
  const operations: Readonly<Record<string, Operation>> = {
    ...Object.fromEntries(
      OPERATIONS.map((name) => [name, (...args: never[]) => (store[name] as Operation).apply(store, args)]),
    ),
    subscribe: async (id, name) => {
      const listener = (message: string): void => channel.notify('store message', id, message);
      subscriptions.set(id as number, await store.subscribe(name as string, listener));
    },
    unsubscribe: (id) => unsubscribe(id as number),
  };
  channel.onCall('store', async (name: string, ...args: readonly unknown[]) => operations[name]?.(...args));
  channel.onNotice('store unsubscribe', ([id]) => void unsubscribe(id as number));
  return () => {
    for (const id of [...subscriptions.keys()]) void unsubscribe(id);
  };
}

/** What is passed on as it is. */
const OPERATIONS = [
  'takeTokens',
  'get',
  'set',
  'increment',
  'putBlob',
  'getBlob',
  'listBlobs',
  'deleteBlobs',
  'publish',
  'acquireLease',
  'renewLease',
  'releaseLease',
] as const satisfies readonly (keyof SharedStore)[];
