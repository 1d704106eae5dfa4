import type { Root, SharedRoot } from '../../fence/index.ts';
import { toWorkerError } from '../../runtime/worker-error.ts';
import { SearchMemory } from '../kernels/search-memory.ts';
import { StopFlag } from '../task/stop-flag.ts';
import { StealRequest } from '../walk/steal-request.ts';
import type { SearchRequest, WorkerReply } from './messages.ts';
import { RoundRobin } from './round-robin.ts';
import { SearchJob } from './search-job.ts';

interface WorkerEnvironment {
  rootOf(shared: SharedRoot): Root;
  reply(message: WorkerReply): void;
}

/** All searches that one worker takes part in. */
export class WorkerSearches {
  readonly #surroundings: WorkerEnvironment;
  readonly #sessions = new Map<number, SearchJob>();
  readonly #memory = new SearchMemory();
  readonly #lanes = new RoundRobin();

  constructor(surroundings: WorkerEnvironment) {
    this.#surroundings = surroundings;
  }

  receive(request: SearchRequest): void {
    if (request.type === 'begin') {
      const { search, spec } = request;
      const root = this.#surroundings.rootOf(spec.root);
      const stop = new StopFlag(request.stop);
      const call = new StealRequest(request.call);
      this.#sessions.set(search, new SearchJob({ root, spec, stop, call, memory: this.#memory }));
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
      done: (answer) => reply({ id, answer } as WorkerReply),
      failed: (error) => reply({ id, failure: toWorkerError(error) }),
    });
  }
}
