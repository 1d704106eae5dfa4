import * as z from 'zod';
import { patchFile as patchOp } from '../../files/edit/edit-file.ts';
import { defineTool } from '../../tools/tool.ts';
import { filePath, ifMatch, rootName, SUBJECT, version } from './shared-schemas.ts';

export const patchFile = defineTool({
  name: 'patch_file',
  description:
    'Apply a unified diff to one file, all hunks or none. Each hunk starts with "@@ -line,count +line,count @@" and its lines with " ", "-" or "+". Context must match exactly, but may have moved. A missing file counts as empty, so a diff can create it.',
  needs: ['patch_file'],
  effect: 'change',
  subject: SUBJECT,
  input: z.strictObject({
    root: rootName,
    path: filePath,
    patch: z.string().describe('Unified diff'),
    if_match: ifMatch,
  }),
  output: z.object({ path: z.string(), hunks_applied: z.int(), version }),
  run: async ({ root, path, patch, if_match }, context) => {
    const target = context.root(root);
    const { durable, signal } = context;
    const options = { durable, signal, ifMatch: if_match };
    const { hunksApplied, version } = await patchOp(target, target.parse(path), patch, options);
    return { path, hunks_applied: hunksApplied, version };
  },
  readerText: ({ path, hunks_applied, version }) =>
    `patched ${path}: ${hunks_applied} hunks applied, version ${version}`,
});
