import * as z from 'zod';
import { patchFile as patchOp } from '../../files/edit/edit-file.ts';
import { defineTool } from '../../tools/tool.ts';
import { fileDiff, hunksOf } from './file-diff.ts';
import { dryRun, filePath, ifMatch, rootName, SUBJECT, version } from './shared-schemas.ts';
import { targetOf } from './target.ts';

export const patchFile = defineTool({
  name: 'patch_file',
  description:
    'Apply a unified diff to one file, all hunks or none: for many changes at once; else use edit_file. A hunk starts with "@@ -line,count +line,count @@", or "@@" if its context occurs once. Context must match exactly; away from its line a hunk must fit in one place only.',
  needs: ['patch_file'],
  effect: 'change',
  subject: SUBJECT,
  input: z.strictObject({
    root: rootName,
    path: filePath,
    patch: z.string().describe('Unified diff'),
    if_match: ifMatch,
    dry_run: dryRun,
  }),
  output: z.object({
    path: z.string(),
    hunks_applied: z.int(),
    hunks: z.array(z.object({ line: z.int() })),
    diff: z.string(),
    version,
    dry_run: z.literal(true).optional(),
  }),
  changes: (args, context) => (args.dry_run ? [] : [{ ...targetOf(args, context), kind: 'patch', only: 'file' }]),
  run: async (args, context) => {
    const { path, patch, if_match, dry_run } = args;
    const target = targetOf(args, context);
    const { durable, signal, caller } = context;
    const options = { durable, signal, caller, ifMatch: if_match ?? context.agreedVersion?.(target), dryRun: dry_run };
    const { hunks, diff, version } = await patchOp(target.root, target.path, patch, options);
    return {
      path,
      hunks_applied: hunks.length,
      hunks: [...hunks],
      diff: fileDiff(path, diff),
      version,
      ...(dry_run && { dry_run: true as const }),
    };
  },
  readerText: ({ path, hunks, hunks_applied, diff, version, dry_run }) => {
    const at = hunks.slice(0, 20).map(({ line }) => line);
    const count = `${hunks_applied} ${hunks_applied === 1 ? 'hunk' : 'hunks'}`;
    const where = `${at.length === 1 ? 'line' : 'lines'} ${at.join(', ')}${hunks.length > 20 ? ', ...' : ''}`;
    return `${dry_run ? 'dry run, nothing changed: ' : 'patched '}${path}: ${count} at ${where}, version ${version}\n${hunksOf(diff)}`.trimEnd();
  },
});
