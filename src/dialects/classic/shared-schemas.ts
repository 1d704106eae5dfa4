import type { Stats } from 'node:fs';
import * as z from 'zod';
import type { CallerPath } from '../../fence/index.ts';
import { isoTime } from '../../runtime/iso-times.ts';
import { formatPath } from './path.ts';

/** The path argument of most tools. */
export const filePath = z.string().describe('Path relative to the root');
/** The type of an entry in results. */
export const entryType = z.enum(['file', 'directory', 'symlink', 'other']);
/** The metadata of a file in results. */
export const fileMetadata = z.object({ path: z.string(), modified: z.string(), size: z.int() });

/** The arguments of copy and move. */
export const sourceDestination = {
  source: z.string().describe('Path relative to the root'),
  destination: z.string().describe('The exact new path, not a folder to put it in'),
};

/** The subject of copy and move, for the log. */
export const SOURCE_DESTINATION_SUBJECT = ['source', 'destination'] as const;

/** Builds the `metadata` of a result. */
export function metadataOf(
  path: CallerPath,
  { mtimeMs, size }: Pick<Stats, 'mtimeMs' | 'size'>,
): z.output<typeof fileMetadata> {
  return { path: formatPath(path), modified: isoTime(mtimeMs), size };
}
