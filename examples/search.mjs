// Searches the files below a folder, on worker threads. Run it with: node examples/search.mjs [folder] [pattern]
import { Root } from 'ringfence/fence';
import { glob, grep, isSearchError, SearchPool, walk } from 'ringfence/search';

const [folder = '.', pattern = 'TODO|FIXME'] = process.argv.slice(2);
const root = Root.open('project', folder);
const pool = new SearchPool();
try {
  const lines = await grep(root, { pattern, globFilter: '*.md', contextLines: 1, maxResults: 20 }, pool);
  for (const { file, lineNumber, lineContent } of lines.matches) console.log(`${file}:${lineNumber}: ${lineContent}`);
  console.log(`${lines.totalMatches} lines in ${lines.filesMatched} of ${lines.filesSearched} files`);

  const files = await glob(root, { pattern: '**/*.md', type: 'file', ignore: true, sortBy: 'modified' }, pool);
  console.log(`${files.totalMatches} Markdown files${files.truncated ? ' and more' : ''}`);

  let folders = 0;
  for (const { type } of walk(root, { maxDepth: 2, skipHidden: true })) if (type === 'directory') folders += 1;
  console.log(`${folders} folders, two levels deep`);

  // At most five seconds: then the matches found so far are returned.
  const quick = await grep(root, { pattern, timeoutSeconds: 5 }, pool, { signal: AbortSignal.timeout(60_000) });
  console.log(quick.timedOut ? 'out of time' : 'searched everything');

  // RE2 syntax: matching takes time in proportion to the input, whatever the pattern; there are no backreferences.
  await grep(root, { pattern: '(a)\\1' }, pool).catch((error) => {
    if (!isSearchError(error, 'invalid_pattern')) throw error;
    console.log(`refused: ${error.code}`);
  });
} finally {
  await pool.close();
  root.close();
}
