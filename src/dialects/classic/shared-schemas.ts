import type { Stats } from 'node:fs';
import * as z from 'zod';
import type { CallerPath } from '../../fence/index.ts';
import { isoTime } from '../../runtime/iso-times.ts';
import { shown } from './path.ts';

/** Arguments and result fields that several tools share, described once. */
export const filePath = z.string().describe('Path relative to the root');
export const entryType = z.enum(['file', 'directory', 'symlink', 'other']);
export const fileMetadata = z.object({ path: z.string(), modified: z.string(), size: z.int() });

/** The ends of copy and move. */
export const ends = {
  source: z.string().describe('Path relative to the root'),
  destination: z.string().describe('The exact new path, not a folder to put it in'),
};

export const ENDS_SUBJECT = ['source', 'destination'] as const;

export function metadataOf(
  path: CallerPath,
  { mtimeMs, size }: Pick<Stats, 'mtimeMs' | 'size'>,
): z.output<typeof fileMetadata> {
  return { path: shown(path), modified: isoTime(mtimeMs), size };
}
