import { firstCall } from './first-call.js';
import { glob } from './glob.js';
import { grep } from './grep.js';
import { growth } from './growth.js';
import { hash } from './hash.js';
import { history } from './history.js';
import { overHttp } from './http.js';
import { lease } from './lease.js';
import { list } from './list.js';
import { memory } from './memory.js';
import { page } from './page.js';
import { processes } from './processes.js';
import { read } from './read.js';
import { start } from './start.js';
import { tokens } from './tokens.js';
import { write } from './write.js';

/**
 * The groups by the names they have on the command line. A group measures and returns rows:
 * `{ work, against, ours, theirs, unit?, target?, agrees, note? }`. Figures are milliseconds unless `unit` says bytes or characters;
 * `agrees` says that both sides gave the same, right result.
 */
export const GROUPS = {
  start,
  'first-call': firstCall,
  read,
  write,
  history,
  lease,
  list,
  grep,
  glob,
  hash,
  page,
  http: overHttp,
  processes,
  memory,
  growth,
  tokens,
};
