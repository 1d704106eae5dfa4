import type { Root, SharedRoot } from '../../fence/index.ts';
import { toFailure } from '../../runtime/worker-error.ts';
import { SearchMemory } from '../kernels/search-memory.ts';
import { StopFlag } from '../task/stop-flag.ts';
import { CallForWork } from '../walk/steal-request.ts';
import type { Reply, SearchRequest } from './messages.ts';
import { Lanes } from './round-robin.ts';
import { Session } from './search-job.ts';

interface Surroundings {
  rootOf(shared: SharedRoot): Root;
  reply(message: Reply): void;
}

/** All searches that one worker takes part in. */
export class Searches {
  readonly #surroundings: Surroundings;
  readonly #sessions = new Map<number, Session>();
  readonly #memory = new SearchMemory();
  readonly #lanes = new Lanes();

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
  }

  receive(request: SearchRequest): void {
    if (request.type === 'begin') {
      const { search, spec } = request;
      const root = this.#surroundings.rootOf(spec.root);
      const stop = new StopFlag(request.stop);
      const call = new CallForWork(request.call);
      this.#sessions.set(search, new Session({ root, spec, stop, call, memory: this.#memory }));
    } else if (request.type === 'end') {
      this.#sessions.delete(request.search);
    } else {
      this.#run(request);
    }
  }

  #run({ search, id, task }: SearchRequest & { type: 'task' }): void {
    const { reply } = this.#surroundings;
    const session = this.#sessions.get(search);
    if (session === undefined) throw new Error('a task of no search');
    this.#lanes.add(search, {
      steps: session.run(task),
      done: (answer) => reply({ id, answer } as Reply),
      failed: (error) => reply({ id, failure: toFailure(error) }),
    });
  }
}
