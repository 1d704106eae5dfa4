import type { ProcessChannel } from '../runtime/process-channel.ts';
import type { SharedStore, Unsubscribe } from './shared-store.ts';

type Operation = (...args: readonly unknown[]) => Promise<unknown>;

/**
 * Lets the process at the other end of a channel use a store, by `ParentStore`. Returns what ends its subscriptions.
 */
export function serveStore(store: SharedStore, channel: ProcessChannel): () => void {
  // Promises, so that a subscription that is ended before it has been made is ended as soon as it is.
  const subscriptions = new Map<unknown, Promise<Unsubscribe>>();
  const unsubscribe = async (id: unknown): Promise<void> => {
    const subscribed = subscriptions.get(id);
    subscriptions.delete(id);
    await (await subscribed)?.();
  };
  channel.onCall('store', async (name: string, ...args: unknown[]) => {
    const operation = OPERATIONS.find((each) => each === name);
    if (operation === undefined) throw new Error(`a store has no operation ${name}`);
    return (store[operation] as Operation).apply(store, args);
  });
  channel.onNotice('store subscribe', ([id, name]) => {
    const listener = (message: string): void => {
      if (subscriptions.has(id)) channel.notify('store message', id, message);
    };
    subscriptions.set(id, store.subscribe(name as string, listener));
  });
  channel.onNotice('store unsubscribe', ([id]) => void unsubscribe(id));
  return () => {
    for (const id of [...subscriptions.keys()]) void unsubscribe(id);
  };
}

/** The operations of a store that a call carries out with its arguments as they are. */
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
  'leaseNote',
  'releaseLease',
  'handOnLease',
] as const satisfies readonly (keyof SharedStore)[];
