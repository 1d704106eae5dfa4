import { Root, type SharedRoot } from '../../fence/index.ts';
import type { Reply } from '../../runtime/serve-parent.ts';
import { SearchMemory } from '../kernels/search-memory.ts';
import { StopFlag } from '../task/stop-flag.ts';
import { StealRequest } from '../walk/steal-request.ts';
import type { SearchNotice, SearchTask, TaskResult } from './messages.ts';
import { RoundRobin } from './round-robin.ts';
import { SearchJob } from './search-job.ts';

/** All searches that one worker takes part in. */
export class WorkerSearches {
  readonly #roots = new Map<string, Root>();
  readonly #jobs = new Map<number, SearchJob>();
  readonly #memory = new SearchMemory();
  readonly #roundRobin = new RoundRobin();

  notice(notice: SearchNotice): void {
    const { search } = notice;
    if (notice.type === 'end') {
      this.#jobs.delete(search);
      return;
    }
    const { spec } = notice;
    const root = this.#rootOf(spec.root);
    const stop = new StopFlag(notice.stop);
    const steal = new StealRequest(notice.steal);
    this.#jobs.set(search, new SearchJob({ root, spec, stop, steal, memory: this.#memory }));
  }

  /** Runs a task of a search that began before, in turns with the tasks of other searches. */
  run(task: SearchTask, reply: Reply<TaskResult>): void {
    const job = this.#jobs.get(task.search);
    if (job === undefined) throw new Error('a task of an unknown search');
    this.#roundRobin.add(task.search, { steps: job.run(task), ...reply });
  }

  #rootOf(shared: SharedRoot): Root {
    const key = JSON.stringify(shared);
    let root = this.#roots.get(key);
    if (root === undefined) {
      root = Root.fromShared(shared);
      this.#roots.set(key, root);
    }
    return root;
  }
}
