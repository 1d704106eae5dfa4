import type { Dialect } from '../../tools/dialect.ts';
import { create } from './create.ts';
import { deleteEntry } from './delete-entry.ts';
import { toArgumentsError, toStorageError } from './errors.ts';
import { insert } from './insert.ts';
import { rename } from './rename.ts';
import { strReplace } from './str-replace.ts';
import { view } from './view.ts';

/** These only ever add. */
const ADDITIVE: ReadonlySet<string> = new Set([create.name, insert.name]);

/** Six tools on one folder: the contract of the file-storage-backend server. */
export const memory: Dialect = {
  name: 'memory',
  serverName: 'file-storage-backend',
  serverVersion: '1.0.0',
  instructions:
    'Notes and other files that last between sessions, in one folder. Paths are relative to it. Start with view on "." to see what is there. Nothing outside the folder can be reached.',
  tools: [view, create, strReplace, insert, deleteEntry, rename],
  destructive: ({ name, effect }) => effect !== 'read' && !ADDITIVE.has(name),
  wordError: (error, { tool, args }) => JSON.stringify(toStorageError(error, { tool: tool.name, args })),
  wordProblems: (problems) => JSON.stringify(toArgumentsError(problems)),
};
