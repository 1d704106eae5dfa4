// The entry point of a search worker thread: see pool.ts.
import { parentPort } from 'node:worker_threads';
import { Root, type SharedRoot } from '../../fence/index.ts';
import { LookPart } from '../look-part.ts';
import type { LookRequest, Reply, Request } from './messages.ts';
import type { Searches } from './searches.ts';

const port = parentPort;
if (port === null) throw new Error('to be started as a worker thread');

const roots = new Map<string, Root>();
let searches: Promise<Searches> | undefined;

port.on('message', (request: Request) => {
  if (request.type === 'look') {
    look(request);
  } else if (request.type === 'know') {
    rootOf(request.root);
  } else {
    searches ??= startSearches();
    void searches.then((all) => all.receive(request));
  }
});

/** What searches need takes as long to load as all else, so a worker that only looks at entries does without. */
async function startSearches(): Promise<Searches> {
  const { Searches } = await import('./searches.ts');
  const started = new Searches({ rootOf, reply });
  reply('ready');
  return started;
}

function look({ root, dir, part: shared }: LookRequest): void {
  const part = new LookPart(shared);
  try {
    part.fill(rootOf(root).borrow(dir));
  } catch {
    // Who asked finds out for itself.
  }
}

function reply(message: Reply): void {
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
