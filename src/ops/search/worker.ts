// The entry point of a search worker thread: see pool.ts.
import { parentPort } from 'node:worker_threads';
import { Root, type SharedRoot } from '../../fence/index.ts';
import { toFailure } from '../failure.ts';
import { LookPart } from '../look-part.ts';
import { Lanes } from './lanes.ts';
import type { LookRequest, Reply, Request } from './messages.ts';
import { Session } from './session.ts';
import { SearchMemory } from './simd/search-memory.ts';
import { StopFlag } from './stop-flag.ts';

const port = parentPort;
if (port === null) throw new Error('to be started as a worker thread');

const roots = new Map<string, Root>();
const sessions = new Map<number, Session>();
const memory = new SearchMemory();
const lanes = new Lanes();

port.on('message', (request: Request) => {
  if (request.type === 'begin') {
    const { search, spec, stop } = request;
    sessions.set(search, new Session({ root: rootOf(spec.root), spec, stop: new StopFlag(stop), memory }));
  } else if (request.type === 'end') {
    sessions.delete(request.search);
  } else if (request.type === 'look') {
    look(request);
  } else {
    run(request);
  }
});

reply('ready');

function run({ search, id, task }: Request & { type: 'task' }): void {
  const session = sessions.get(search);
  if (session === undefined) throw new Error('a task of no search');
  lanes.add(search, {
    steps: session.run(task),
    done: (answer) => reply({ id, answer } as Reply),
    failed: (error) => reply({ id, failure: toFailure(error) }),
  });
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
