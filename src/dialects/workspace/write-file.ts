import * as z from 'zod';
import { previewWrite } from '../../files/edit/edit-file.ts';
import { base64ToBytes, textToBytes } from '../../files/encoding.ts';
import { versionOf } from '../../files/version.ts';
import { WRITE_MODES, writeFile as write } from '../../files/write/write-file.ts';
import { writeChange } from '../../tools/intended-change.ts';
import { showValue } from '../../tools/show-value.ts';
import { defineTool } from '../../tools/tool.ts';
import { fileDiff, hunksOf } from './file-diff.ts';
import { dryRun, filePath, ifMatch, rootName, SUBJECT, version } from './shared-schemas.ts';
import { targetOf } from './target.ts';

const WRITTEN = { overwrite: 'wrote', append: 'appended to', create_only: 'created' };

export const writeFile = defineTool({
  name: 'write_file',
  description:
    'Write a whole file; parent folders are made. overwrite replaces it, append adds to its end, create_only fails if it exists. To change part of a file use edit_file.',
  needs: ['write_file'],
  effect: 'change',
  subject: SUBJECT,
  input: z.strictObject({
    root: rootName,
    path: filePath,
    content: z.string(),
    mode: z
      .enum(WRITE_MODES, {
        error: ({ input }) => `invalid mode: ${showValue(input)}; valid modes: ${WRITE_MODES.join(', ')}`,
      })
      .default('overwrite'),
    encoding: z.enum(['utf-8', 'base64']).default('utf-8').describe('Of content'),
    if_match: ifMatch,
    dry_run: dryRun,
  }),
  output: z.object({
    path: z.string(),
    size: z.int().describe('Bytes written'),
    mode: z.enum(WRITE_MODES),
    version,
    dry_run: z.literal(true).optional(),
    diff: z.string().optional(),
  }),
  changes: (args, context) =>
    args.dry_run ? [] : [{ ...targetOf(args, context), ...writeChange(args.mode), only: 'file' }],
  run: async (args, context) => {
    const { path, content, mode, encoding, if_match, dry_run } = args;
    const target = targetOf(args, context);
    const bytes = encoding === 'base64' ? base64ToBytes(content, 'content') : textToBytes(content, 'content');
    if (dry_run) {
      const options = { mode, ifMatch: if_match, signal: context.signal };
      const { diff, version } = await previewWrite(target.root, target.path, bytes, options);
      const shown = diff === undefined ? {} : { diff: fileDiff(path, diff) };
      return { path, size: bytes.length, mode, version, dry_run: true as const, ...shown };
    }
    const options = { mode, durable: context.durable, ifMatch: if_match ?? context.agreedVersion?.(target) };
    const stats = await write(target.root, target.path, bytes, options, context);
    return { path, size: bytes.length, mode, version: versionOf(stats) };
  },
  readerText: ({ path, size, mode, version, dry_run, diff }) => {
    if (!dry_run) return `${WRITTEN[mode]} ${path}: ${size} bytes, version ${version}`;
    const shown = diff === undefined ? 'no diff: not text, or too large' : hunksOf(diff) || 'no difference';
    return `dry run, nothing changed: ${path}: ${size} bytes\n${shown}`.trimEnd();
  },
});
