// Entry point of the worker thread that stats entries of large folders; see stat-thread.ts.
import { Root, type SharedRoot } from '../../fence/index.ts';
import { serveParent } from '../../runtime/serve-parent.ts';
import { StatBatch } from './stat-batch.ts';
import type { StatNotice } from './stat-thread.ts';

const roots = new Map<string, Root>();

serveParent<never, never, StatNotice>({
  call: () => {},
  notice: ({ root, work }) => {
    try {
      const opened = rootOf(root);
      if (work !== undefined) new StatBatch(work.batch).fill(opened.borrowDir(work.dir));
    } catch {
      // The parent stats every entry that this thread did not, and reports the failure itself.
    }
  },
});

function rootOf(shared: SharedRoot): Root {
  const key = JSON.stringify(shared);
  const root = roots.get(key) ?? Root.fromShared(shared);
  roots.set(key, root);
  return root;
}
