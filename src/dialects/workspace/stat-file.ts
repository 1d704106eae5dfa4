import type { Stats } from 'node:fs';
import * as z from 'zod';
import type { AgentEntry } from '../../agent/bridge/agent-root.ts';
import { parseCallerPath } from '../../fence/index.ts';
import { statLatest } from '../../files/list/stat-path.ts';
import { versionOf } from '../../files/version.ts';
import { isoTime } from '../../runtime/iso-times.ts';
import { defineTool } from '../../tools/tool.ts';
import { filePath, rootName, SUBJECT, targetLine, version } from './shared-schemas.ts';

const status = z.object({
  name: z.string(),
  path: z.string(),
  size: z.int().optional(),
  is_directory: z.boolean(),
  is_symlink: z.boolean(),
  modified_at: z.string().optional(),
  created_at: z.string().optional(),
  version: version.optional(),
});
type Status = z.output<typeof status>;

export const statFile = defineTool({
  name: 'stat_file',
  description:
    'Size, times, kind and version of a file, folder or symlink, without reading it; target is what a symlink points to (null if missing).',
  needs: ['stat_file'],
  effect: 'read',
  subject: SUBJECT,
  input: z.strictObject({ root: rootName, path: filePath }),
  output: status.extend({ target: z.looseObject({}).nullable().optional() }),
  run: async ({ root, path }, context) => {
    const { root: home, agent } = context.resolveRoot(root);
    if (agent !== undefined) return describeEntry(path, await agent.stat(path));
    const { stats, target } = await statLatest(home, home.parse(path), context);
    const own = describe(path, stats);
    if (target === undefined) return own;
    return { ...own, target: target && describe(target.path, target.stats) };
  },
  readerText: ({ target, ...own }) => line(own) + targetLine(target, line),
});

function line({ path, size, is_directory, is_symlink, modified_at, created_at, version }: Status): string {
  const kind = is_symlink ? 'symlink' : is_directory ? 'folder' : 'file';
  const facts = [
    ...(size === undefined || is_directory ? [] : [`${size} bytes`]),
    ...(modified_at === undefined ? [] : [`modified ${modified_at}`]),
    ...(created_at === undefined ? [] : [`created ${created_at}`]),
    ...(version === undefined ? [] : [`version ${version}`]),
  ];
  return `${path}: ${[kind, ...facts].join(', ')}`;
}

function describe(path: string, stats: Stats) {
  const { segments } = parseCallerPath(path);
  return {
    name: segments.at(-1) ?? '.',
    path,
    size: stats.size,
    is_directory: stats.isDirectory(),
    is_symlink: stats.isSymbolicLink(),
    modified_at: isoTime(stats.mtimeMs),
    // A filesystem without birth times reports 0.
    ...(stats.birthtimeMs > 0 && { created_at: isoTime(stats.birthtimeMs) }),
    version: versionOf(stats),
  };
}

/** Describes a client-side file. Fields that are not known are absent. */
function describeEntry(path: string, { name, type, size, modified }: AgentEntry) {
  return {
    name,
    path,
    ...(size !== undefined && { size }),
    is_directory: type === 'directory',
    is_symlink: type === 'symlink',
    ...(modified !== undefined && { modified_at: modified.toISOString() }),
  };
}
