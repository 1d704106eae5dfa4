import { type Dialect, WARM_UP_ROOT } from '../../tools/dialect.ts';
import { copy } from './copy.ts';
import { createFolder } from './create-folder.ts';
import { editFile } from './edit-file.ts';
import { formatError, formatProblems } from './errors.ts';
import { glob } from './glob.ts';
import { grep } from './grep.ts';
import { hashFile } from './hash-file.ts';
import { listFolder } from './list-folder.ts';
import { listRoots } from './list-roots.ts';
import { move } from './move.ts';
import { patchFile } from './patch-file.ts';
import { permissionsFile } from './permissions-file.ts';
import { readFile } from './read-file.ts';
import { readFiles } from './read-files.ts';
import { removeFile } from './remove-file.ts';
import { removeFolder } from './remove-folder.ts';
import { statFile } from './stat-file.ts';
import { writeFile } from './write-file.ts';

const root = WARM_UP_ROOT;
const code = 'dist/search';

/**
 * The workspace dialect: sixteen tools and `list_roots` on named roots, with the contract of the mcp-filesystem
 * server.
 */
export const workspace: Dialect = {
  name: 'workspace',
  serverName: 'mcp-filesystem',
  instructions:
    'Files in named roots. Call list_roots first. Paths are relative to their root and "/" separated; a leading "/" means the top of the root. Nothing outside the roots can be reached. Find files with glob (by name) and grep (by content). Change files with edit_file; use patch_file for a diff you have, write_file for new or wholly rewritten files.',
  tools: [
    listRoots,
    listFolder,
    readFile,
    readFiles,
    editFile,
    patchFile,
    writeFile,
    removeFile,
    createFolder,
    removeFolder,
    statFile,
    hashFile,
    permissionsFile,
    copy,
    move,
    grep,
    glob,
  ],
  showsFiles: true,
  terseSchemas: true,
  warmUpCalls: [
    // The most frequent call, and the shortest: what is not compiled yet would show most in it.
    ...Array.from({ length: 8 }, () => ({ name: 'read_file', args: { root, path: 'package.json' } })),
    { name: 'list_folder', args: { root, path: code } },
    { name: 'glob', args: { root, path: code, pattern: '**/*.js' } },
    { name: 'grep', args: { root, path: code, pattern: 'import' } },
    { name: 'grep', args: { root, path: code, pattern: '[a-z]+Matcher\\(', context_lines: 2 } },
  ],
  // The contract: agents work freely inside the roots, so clients should not ask for confirmation.
  destructive: () => false,
  formatError,
  formatProblems,
};
