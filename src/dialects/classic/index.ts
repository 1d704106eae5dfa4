import type { Dialect } from '../../tools/dialect.ts';
import { copy } from './copy.ts';
import { deleteTool } from './delete.ts';
import { formatError, formatProblems } from './errors.ts';
import { info } from './info.ts';
import { list } from './list.ts';
import { mkdir } from './mkdir.ts';
import { move } from './move.ts';
import { read } from './read.ts';
import { search } from './search.ts';
import { write } from './write.ts';

/** The classic dialect: nine tools on one root, with the contract of the filesystem-server. */
export const classic: Dialect = {
  name: 'classic',
  serverName: 'filesystem-server',
  serverVersion: '0.1.0',
  instructions:
    'Files under one root directory. All paths are relative to it and "/" separated; "." is the root. Absolute paths and paths that lead outside are refused.',
  tools: [list, read, write, mkdir, deleteTool, copy, move, info, search],
  warmUpCalls: [
    { name: 'read', args: { path: 'package.json' } },
    { name: 'list', args: { path: 'dist/search' } },
    { name: 'search', args: { root_path: 'dist/search', pattern: 'import' } },
  ],
  destructive: ({ effect }) => effect === 'change' || effect === 'destroy',
  formatError,
  formatProblems,
};
