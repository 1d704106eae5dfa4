import * as z from 'zod';
import { base64ToBytes, textToBytes } from '../../files/encoding.ts';
import { versionOf } from '../../files/version.ts';
import { WRITE_MODES, writeFile as write } from '../../files/write/write-file.ts';
import { showValue } from '../../tools/show-value.ts';
import { defineTool } from '../../tools/tool.ts';
import { filePath, ifMatch, rootName, SUBJECT, version } from './shared-schemas.ts';

const WRITTEN = { overwrite: 'wrote', append: 'appended to', create_only: 'created' };

export const writeFile = defineTool({
  name: 'write_file',
  description:
    'Write text to a file; missing parent folders are made. overwrite replaces it whole, append adds to its end, create_only fails if it exists. Never leaves a half-written file. To change part of a file use patch_file.',
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
  }),
  output: z.object({ path: z.string(), size: z.int().describe('Bytes written'), mode: z.enum(WRITE_MODES), version }),
  run: async ({ root, path, content, mode, encoding, if_match }, context) => {
    const target = context.root(root);
    const bytes = encoding === 'base64' ? base64ToBytes(content, 'content') : textToBytes(content, 'content');
    const options = { mode, durable: context.durable, ifMatch: if_match };
    const stats = await write(target, target.parse(path), bytes, options, context);
    return { path, size: bytes.length, mode, version: versionOf(stats) };
  },
  readerText: ({ path, size, mode, version }) => `${WRITTEN[mode]} ${path}: ${size} bytes, version ${version}`,
});
