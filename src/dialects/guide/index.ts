import type { Dialect } from '../../tools/dialect.ts';
import { cacheFile } from './cache-file.ts';
import { formatError, formatProblems } from './errors.ts';
import { listDirectory } from './list-directory.ts';
import { readFile } from './read-file.ts';

/** The guide dialect: three tools to hand over client-side files, with the contract of the filesystem-guide server. */
export const guide: Dialect = {
  name: 'guide',
  serverName: 'filesystem-guide',
  instructions:
    'The guide_ tools take in files of the project on your side: call them when a file is asked for, or before. Paths are relative to the project root, and only the allowed folders are taken. What you hand over is kept for you alone.',
  tools: [cacheFile, listDirectory, readFile],
  takesFiles: true,
  // The tools replace only the server's copies.
  destructive: () => false,
  formatError,
  formatProblems,
};
