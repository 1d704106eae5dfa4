import { type ChildProcess, spawn } from 'node:child_process';
import { compiledFile } from '../runtime/compiled-file.ts';
import { ProcessChannel } from '../runtime/process-channel.ts';
import { serveStore } from './serve-store.ts';
import type { SharedStore } from './shared-store.ts';

const moduleAt = (name: string): string => JSON.stringify(compiledFile(import.meta.url, name).href);

/** A program that calls the store of its parent process as the parent, over the same channel, tells it to. */
const WORKER = `
const { ProcessChannel } = await import(${moduleAt('../runtime/process-channel.js')});
const { ParentStore } = await import(${moduleAt('./parent-store.js')});
const channel = new ProcessChannel(process);
const store = new ParentStore(channel);
const ends = new Map();
channel.onCall('do', (name, ...args) => store[name](...args));
channel.onCall('listen', async (id, name) => ends.set(id, await store.subscribe(name, (text) => channel.notify('heard', id, text))) && undefined);
channel.onCall('end', (id) => ends.get(id)());
process.once('disconnect', async () => {
  for (const end of ends.values()) await end();
  process.exit();
});
channel.notify('ready');
`;

/** A worker process that has a `ParentStore`. */
export class StoreWorker {
  readonly child: ChildProcess;
  readonly channel: ProcessChannel;
  readonly ready: Promise<void>;
  readonly #stopServing: () => void;

  /** Starts a worker of a store that this process keeps. */
  constructor(store: SharedStore) {
    this.child = spawn(process.execPath, ['--input-type=module', '-e', WORKER], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      serialization: 'advanced',
    });
    this.channel = new ProcessChannel(this.child);
    this.#stopServing = serveStore(store, this.channel);
    this.ready = new Promise((resolve) => this.channel.onNotice('ready', () => resolve()));
  }

  /** What the worker's store does, as a store of this process. */
  asStore(): SharedStore {
    const listeners = new Map<number, (message: string) => void>();
    this.channel.onNotice('heard', ([id, text]) => listeners.get(id as number)?.(text as string));
    const special = {
      subscribe: async (name: string, listener: (message: string) => void) => {
        const id = listeners.size + 1;
        listeners.set(id, listener);
        await this.channel.call('listen', id, name);
        return () => this.channel.call('end', id);
      },
      missing: () => [],
      onRestored: () => {},
      close: async () => {
        this.#stopServing();
        this.child.kill('SIGKILL');
      },
    };
    return new Proxy({} as SharedStore, {
      get: (_, name: string) =>
        special[name as keyof typeof special] ?? ((...args: unknown[]) => this.channel.call('do', name, ...args)),
    });
  }
}
