import type { Stats } from 'node:fs';
import * as z from 'zod';
import { OwnerNames } from '../../fence/index.ts';
import { permissionsOf } from '../../files/list/permissions.ts';
import { statLatest } from '../../files/list/stat-path.ts';
import { defineTool } from '../../tools/tool.ts';
import { filePath, rootName, SUBJECT, targetLine } from './shared-schemas.ts';

const output = z.object({
  path: z.string(),
  owner: z.string(),
  group: z.string(),
  mode: z.string().describe('Octal: 0644'),
  mode_string: z.string().describe('-rw-r--r--'),
  target: z.looseObject({}).nullable().optional(),
});
type PermissionsOutput = z.output<typeof output>;

export const permissionsFile = defineTool({
  name: 'permissions_file',
  description: 'Owner, group and mode of a file, folder or symlink; target has those of what a symlink points to.',
  needs: ['permissions_file'],
  effect: 'read',
  subject: SUBJECT,
  input: z.strictObject({ root: rootName, path: filePath }),
  output,
  run: async ({ root, path }, context) => {
    const home = context.root(root);
    const { stats, target } = await statLatest(home, home.parse(path), context);
    const names = context.ownerNames ?? new OwnerNames();
    const own = describe(path, stats, names);
    if (target === undefined) return own;
    return { ...own, target: target && describe(target.path, target.stats, names) };
  },
  readerText: ({ target, ...own }) => line(own) + targetLine(target, line),
});

function line({ path, owner, group, mode, mode_string }: Omit<PermissionsOutput, 'target'>): string {
  return `${path}: ${mode_string} (${mode}) ${owner}:${group}`;
}

function describe(path: string, stats: Stats, names: OwnerNames) {
  const { modeString, ...rest } = permissionsOf(stats, names);
  return { path, ...rest, mode_string: modeString };
}
