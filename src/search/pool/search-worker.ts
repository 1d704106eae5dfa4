// Entry module of a search worker thread, which search-pool.ts starts.
import { serveParent } from '../../runtime/serve-parent.ts';
import { WorkerSearches } from './worker-searches.ts';

const searches = new WorkerSearches();
serveParent({
  call: searches.run.bind(searches),
  notice: searches.notice.bind(searches),
});
