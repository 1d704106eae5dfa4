// The entry point of a search worker thread: see pool.ts.
import { parentPort } from 'node:worker_threads';
import { Root, type SharedRoot } from '../../fence/index.ts';
import { StatBatch } from '../../files/list/stat-batch.ts';
import type { WorkerReply, WorkerRequest } from './messages.ts';
import type { WorkerSearches } from './worker-searches.ts';

const port = parentPort;
if (port === null) throw new Error('to be started as a worker thread');

const roots = new Map<string, Root>();
let searches: Promise<WorkerSearches> | undefined;

port.on('message', (request: WorkerRequest) => {
  if (request.type === 'look') {
    tried(() => new StatBatch(request.part).fill(rootOf(request.root).borrow(request.dir)));
  } else if (request.type === 'know') {
    tried(() => rootOf(request.root));
  } else {
    searches ??= startSearches();
    void searches.then((all) => all.receive(request));
  }
});

/** What searches need takes as long to load as all else, so a worker that only looks at entries does without. */
async function startSearches(): Promise<WorkerSearches> {
  const { WorkerSearches } = await import('./worker-searches.ts');
  const started = new WorkerSearches({ rootOf, reply });
  reply('ready');
  return started;
}

/** Does what others only gain by. */
function tried(work: () => void): void {
  try {
    work();
  } catch {
    // Whoever asked does it too, and finds out why it cannot be done.
  }
}

function reply(message: WorkerReply): void {
  port?.postMessage(message);
}

function rootOf(shared: SharedRoot): Root {
  const key = JSON.stringify(shared);
  let root = roots.get(key);
  if (root === undefined) {
    root = Root.fromShared(shared);
    roots.set(key, root);
  }
  return root;
}
