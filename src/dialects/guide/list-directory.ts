import * as z from 'zod';
import { MAX_LISTED } from '../../agent/handover/check-entries.ts';
import { HANDOVER_TOOLS } from '../../agent/handover-tools.ts';
import { defineTool } from '../../tools/tool.ts';
import { resultOf, success } from './result.ts';
import { mtime, projectPath, rootName, SECURITY, SUBJECT } from './shared-schemas.ts';

const entry = z.strictObject({
  name: z.string().describe('Without folders'),
  type: z.enum(['file', 'directory', 'symlink', 'other']).describe('other: a pipe, socket or device'),
  size: z.int().min(0).optional().describe('In bytes'),
  mtime: mtime.optional(),
  get children() {
    return z.array(entry).optional().describe('Of a directory whose content is told too');
  },
});

export const listDirectory = defineTool({
  name: HANDOVER_TOOLS.listDirectory,
  description: [
    'Hand over the entries of a folder of your project, with those of the folders in it as children if you have them. The whole tree is checked before any of it is stored. A file that is told to be newer than what is kept of it will be asked for again. With pattern, only entries that match are stored: without a slash it looks at names, with one at paths from the folder.',
    SECURITY,
    'Example: {"path": "docs", "entries": [{"name": "intro.md", "type": "file", "size": 8, "mtime": 1769860800}, {"name": "api", "type": "directory", "children": []}]}',
  ].join('\n'),
  needs: [],
  effect: 'create',
  // It takes files that the client hands over, and changes no root.
  changes: () => [],
  subject: SUBJECT,
  input: z.strictObject({
    path: projectPath,
    // Checked again with nested ones; a longer list is refused before its entries are looked at.
    entries: z.array(entry).max(MAX_LISTED).describe('What is directly in the folder'),
    pattern: z.string().optional().describe('A glob like *.md or **/*.ts'),
    root: rootName,
  }),
  output: resultOf(
    z.object({
      path: z.string(),
      count: z.int().describe('Entries that were accepted, nested ones included'),
      stored: z.int().describe('How many of them are kept now'),
    }),
  ),
  run: async ({ root, path: given, entries, pattern }, context) => {
    const bridge = context.agentFiles(root);
    const { path, count, stored, warnings } = bridge.storeListing(given, entries, pattern);
    const message = `Listing of ${path} stored: ${stored} ${stored === 1 ? 'entry' : 'entries'}.`;
    return success(context, { bridge, data: { path, count, stored }, message, warnings });
  },
});
