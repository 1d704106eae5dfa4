import { Root, type SharedRoot } from '../../fence/index.ts';
import type { Reply } from '../../runtime/serve-parent.ts';
import { SearchMemory } from '../kernels/search-memory.ts';
import type { SearchNotice, SearchTask, TaskResult } from './messages.ts';
import { RoundRobin } from './round-robin.ts';
import { SearchJob } from './search-job.ts';
import { StealRequest, StopFlag } from './shared-flags.ts';

/** All searches that one worker thread takes part in. */
export class WorkerSearches {
  readonly #roots = new Map<string, Root>();
  readonly #jobs = new Map<number, { readonly share: string; readonly job: SearchJob }>();
  readonly #memory = new SearchMemory();
  readonly #roundRobin = new RoundRobin();

  /** Begins or ends a search. */
  notice(notice: SearchNotice): void {
    const { search } = notice;
    if (notice.type === 'end') {
      this.#jobs.delete(search);
      return;
    }
    const { share, spec } = notice;
    const root = this.#rootOf(spec.root);
    const stop = new StopFlag(notice.stop);
    const steal = new StealRequest(notice.steal);
    this.#jobs.set(search, { share, job: new SearchJob({ root, spec, stop, steal, memory: this.#memory }) });
  }

  /** Runs a task of a search whose `begin` notice was received, interleaved with tasks of other searches. */
  run(task: SearchTask, reply: Reply<TaskResult>): void {
    const { search } = task;
    const begun = this.#jobs.get(search);
    if (begun === undefined) throw new Error('a task of an unknown search');
    this.#roundRobin.add({ share: begun.share, search }, { work: begun.job.run(task), ...reply });
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
