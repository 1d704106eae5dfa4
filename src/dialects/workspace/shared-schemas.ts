import * as z from 'zod';

/** The root argument. */
export const rootName = z.string().describe('Root name, see list_roots');
/** The path argument. */
export const filePath = z.string().describe('Path in the root');
/** The folder argument of searches. */
export const startFolder = z.string().default('.').describe('Where to start');
/** The result limit of searches. */
export const maxResults = z.int().min(1).max(10_000).default(100);
/** The time limit of searches. */
export const timeoutSeconds = z.int().min(1).max(3600).default(300).describe('Partial results after this');
/** The depth limit of searches. */
export const maxDepth = z.int().min(1).optional().describe('Folder levels; 1 = direct children');
/** The type of an entry in results. */
export const entryType = z.enum(['file', 'directory', 'symlink', 'other']);

/** The result fields of a search besides its matches. */
export const searchOutcome = {
  total_matches: z.int().describe('Returned here'),
  truncated: z.boolean().describe('There are more'),
  timed_out: z.boolean(),
};

/** The arguments of copy and move. */
export const sourceDestination = {
  source_root: rootName,
  source_path: z.string(),
  dest_root: z.string(),
  dest_path: z.string(),
};

/** The arguments that get what a result left out, to lay over those of the call. */
export const next = z.looseObject({}).optional().describe('Arguments to lay over these to get the rest');

/** The subject of tools on one path, for the log. */
export const SUBJECT = ['root', 'path'] as const;
/** The subject of copy and move, for the log. */
export const SOURCE_DESTINATION_SUBJECT = ['source_root', 'source_path', 'dest_root', 'dest_path'] as const;

/** Formats what a link points to, after the line of the link itself: null if it points to nothing, undefined for what is no link. */
export function targetLine<T extends object>(target: object | null | undefined, line: (target: T) => string): string {
  if (target === undefined) return '';
  return target === null ? '\n-> nothing, the link is broken' : `\n-> ${line(target as T)}`;
}

/** Formats how a search ended, as a line of its own if there is anything to say. */
export function outcomeLine({ total_matches: count, truncated, timed_out: timedOut }: SearchOutcome): string {
  const facts = [
    ...(count === 0 ? ['no match'] : []),
    ...(truncated ? ['there are more'] : []),
    ...(timedOut ? ['stopped for time, so there may be more'] : []),
  ];
  return facts.length === 0 ? '' : `[${facts.join('; ')}]`;
}

interface SearchOutcome {
  readonly total_matches: number;
  readonly truncated: boolean;
  readonly timed_out: boolean;
}
