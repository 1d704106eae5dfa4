import type { Dialect } from '../../tools/dialect.ts';
import { create } from './create.ts';
import { deleteEntry } from './delete-entry.ts';
import { toArgumentsError, toStorageError } from './errors.ts';
import { insert } from './insert.ts';
import { rename } from './rename.ts';
import { strReplace } from './str-replace.ts';
import { view } from './view.ts';

/** The tools of the memory dialect, which are also the methods of `FileStorage`. */
export const memoryTools = [view, create, strReplace, insert, deleteEntry, rename];

/** The memory dialect: six tools on one root, with the contract of the file-storage-backend server. */
export const memory: Dialect = {
  name: 'memory',
  serverName: 'file-storage-backend',
  instructions:
    'Notes and other files that last between sessions, in one folder. Paths are relative to it. Start with view on "." to see what is there. Nothing outside the folder can be reached.',
  tools: memoryTools,
  warmUpCalls: [{ name: 'view', args: { path: 'package.json' } }],
  destructive: ({ effect }) => effect === 'change' || effect === 'destroy',
  formatError: (error, call) => JSON.stringify(toStorageError(error, call)),
  formatProblems: (problems) => JSON.stringify(toArgumentsError(problems)),
};
