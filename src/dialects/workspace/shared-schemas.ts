import * as z from 'zod';

/** Arguments and result fields that several tools share, described once. */
export const rootName = z.string().describe('Root name, see list_roots');
export const filePath = z.string().describe('Path in the root');
export const startFolder = z.string().default('.').describe('Where to start');
export const maxResults = z.int().min(1).max(10_000).default(100);
export const timeoutSeconds = z.int().min(1).max(3600).default(300).describe('Partial results after this');
export const maxDepth = z.int().min(1).optional().describe('Folder levels; 1 = direct children');
export const entryType = z.enum(['file', 'directory', 'symlink', 'other']);

/** How a search ended, after its matches. */
export const searchOutcome = {
  total_matches: z.int().describe('Returned here'),
  truncated: z.boolean().describe('There are more'),
  timed_out: z.boolean(),
};

/** The ends of copy and move. */
export const ends = {
  source_root: rootName,
  source_path: z.string(),
  dest_root: z.string(),
  dest_path: z.string(),
};

export const SUBJECT = ['root', 'path'] as const;
export const ENDS_SUBJECT = ['source_root', 'source_path', 'dest_root', 'dest_path'] as const;
