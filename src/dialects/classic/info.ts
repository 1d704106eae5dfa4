import type { Stats } from 'node:fs';
import * as z from 'zod';
import { type CallerPath, entryTypeOf, isFenceError, type Root } from '../../fence/index.ts';
import { type Access, accessOf } from '../../files/list/access.ts';
import { statLatest } from '../../files/list/stat-path.ts';
import { isoTime } from '../../runtime/iso-times.ts';
import type { OperationContext } from '../../runtime/operation-context.ts';
import { defineTool } from '../../tools/tool.ts';
import { formatPath, isHidden, parsePath } from './path.ts';
import { entryType, filePath } from './shared-schemas.ts';

const NO_ACCESS: Access = { readable: false, writable: false, executable: false };

export const info = defineTool({
  name: 'info',
  description:
    'Size, times, type and permissions of a file or folder, symlinks followed; a symlink that leads nowhere has type symlink. For a missing path exists is false and only name, path and is_hidden come with it.',
  needs: ['stat_file'],
  effect: 'read',
  subject: ['path'],
  input: z.strictObject({ path: filePath }),
  output: z.object({
    exists: z.boolean(),
    type: entryType.optional(),
    name: z.string(),
    path: z.string(),
    size: z.int().optional(),
    created: z.string().optional().describe('Absent where the filesystem does not know'),
    modified: z.string().optional(),
    accessed: z.string().optional(),
    permissions: z
      .object({ readable: z.boolean(), writable: z.boolean(), executable: z.boolean() })
      .optional()
      .describe('Of the server'),
    is_hidden: z.boolean(),
  }),
  run: async (args, context) => {
    const root = context.boundRoot();
    const path = parsePath(root, args.path);
    const name = path.segments.at(-1) ?? '.';
    const { exists, ...facts } = await factsAbout(root, path, context);
    return { exists, name, path: formatPath(path), ...facts, is_hidden: isHidden(name) };
  },
});

async function factsAbout(root: Root, path: CallerPath, context: OperationContext) {
  try {
    const { stats, target } = await statLatest(root, path, context);
    const permissions = target === null ? NO_ACCESS : await accessOf(root, path);
    return { exists: true, ...describe(target?.stats ?? stats), permissions: { ...permissions } };
  } catch (error) {
    if (isFenceError(error, 'not_found', 'not_directory')) return { exists: false };
    throw error;
  }
}

function describe(stats: Stats) {
  return {
    type: entryTypeOf(stats),
    size: stats.size,
    // A filesystem without birth times reports 0.
    ...(stats.birthtimeMs > 0 && { created: isoTime(stats.birthtimeMs) }),
    modified: isoTime(stats.mtimeMs),
    accessed: isoTime(stats.atimeMs),
  };
}
