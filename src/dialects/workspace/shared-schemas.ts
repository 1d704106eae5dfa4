import * as z from 'zod';
import { type NextArguments, nextLine } from '../../tools/result-form.ts';

/** The root argument. */
export const rootName = z.string();
/** The path argument. */
export const filePath = z.string();
/** The argument of a tool that can show what it would change. */
export const dryRun = z.boolean().default(false).describe('Only show the change');
/** The folder argument of searches. */
export const startFolder = z.string().default('.');
/** The result limit of searches. */
export const maxResults = z.int().min(1).max(10_000).default(100);
/** The time limit of searches. */
export const timeoutSeconds = z.int().min(1).max(3600).default(300).describe('Partial results after this');
/** The depth limit of searches. */
export const maxDepth = z.int().min(1).optional();
/** The number of results of a search to skip. */
export const offset = z.int().min(0).max(10_000_000).default(0).describe('Results to skip');
/** The globs that a search leaves out. */
export const exclude = z.array(z.string()).max(100).optional().describe('Globs');
/** Whether a search keeps ignore rules. */
export const includeIgnored = z.boolean().default(false);
/** The type of an entry in results. */
export const entryType = z.enum(['file', 'directory', 'symlink', 'other']);

/** The arguments that get what a result left out, to lay over those of the call. */
export const next = z.looseObject({}).optional().describe('Arguments for the rest');

/** The result fields of a search besides its matches. */
export const searchOutcome = {
  total_matches: z.int(),
  truncated: z.boolean(),
  timed_out: z.boolean(),
  ignored: z.int().optional(),
  hint: z.string().optional(),
  next,
};

/** The version of an entry in results. */
export const version = z.string();

/** The condition of a change. */
export const ifMatch = z.string().optional().describe('Expected version, sha256:… or absent');

/** The arguments of copy and move. */
export const sourceDestination = {
  source_root: rootName,
  source_path: z.string(),
  dest_root: z.string(),
  dest_path: z.string(),
  overwrite: z.boolean().default(true),
};

/** The subject of tools on one path, for the log. */
export const SUBJECT = ['root', 'path'] as const;
/** The subject of copy and move, for the log. */
export const SOURCE_DESTINATION_SUBJECT = ['source_root', 'source_path', 'dest_root', 'dest_path'] as const;

/**
 * Formats what a link points to, after the line of the link itself: null if it points to nothing, undefined for what is
 * no link.
 */
export function targetLine<T extends object>(target: object | null | undefined, line: (target: T) => string): string {
  if (target === undefined) return '';
  return target === null ? '\n-> nothing, the link is broken' : `\n-> ${line(target as T)}`;
}

/** Formats how a search ended, as a line of its own if there is anything to say. */
export function outcomeLine(outcome: SearchOutcome): string {
  const { total_matches: count, truncated, timed_out: timedOut, ignored, hint, next } = outcome;
  const facts = [
    ...(count === 0 ? [hint ?? 'no match'] : []),
    ...(truncated ? ['there are more'] : []),
    ...(timedOut ? ['stopped for time, so there may be more'] : []),
    ...(ignored !== undefined && count > 0 ? [`${ignoredEntries(ignored)} skipped`] : []),
  ];
  if (next !== undefined) return nextLine(next as NextArguments, facts.join('; '));
  return facts.length === 0 ? '' : `[${facts.join('; ')}]`;
}

/** Formats a number of ignored entries. */
export function ignoredEntries(count: number): string {
  return count === 1 ? '1 ignored entry' : `${count} ignored entries`;
}

interface SearchOutcome {
  readonly total_matches: number;
  readonly truncated: boolean;
  readonly timed_out: boolean;
  readonly ignored?: number | undefined;
  readonly hint?: string | undefined;
  readonly next?: Readonly<Record<string, unknown>> | undefined;
}

/** How a search ended. */
interface EndedSearch {
  /** How many of its results are returned. */
  readonly returned: number;
  readonly offset: number;
  readonly found: {
    readonly totalMatches: number;
    readonly truncated: boolean;
    readonly timedOut: boolean;
    readonly ignored: number;
  };
  /** Says why there is no result, given what was ignored. */
  hint(ignored: string): string;
}

/** Returns the result fields of a search besides its matches. */
export function outcomeOf({ returned, offset, found, hint }: EndedSearch) {
  const { totalMatches, timedOut, ignored } = found;
  const truncated = found.truncated || returned < totalMatches;
  const were = ignored === 1 ? 'was' : 'were';
  const skipped = `; ${ignoredEntries(ignored)} ${were} skipped, include_ignored: true searches them`;
  const emptyHint = (): string => {
    if (truncated) return `the match at offset ${offset} is too long for a result`;
    return offset > 0 && !timedOut ? `no match from offset ${offset} on` : hint(ignored === 0 ? '' : skipped);
  };
  return {
    total_matches: returned,
    truncated,
    timed_out: timedOut,
    ...(ignored > 0 && { ignored }),
    ...(returned === 0 && {
      hint: emptyHint(),
    }),
    // A match that is too long by itself is passed over, since the same call would not return it either.
    ...(truncated && { next: { offset: offset + Math.max(1, returned) } }),
  };
}

/** Returns what is wrong with a glob that is meant to be relative to `path`, or undefined if nothing is known to be. */
export function globProblem(argument: string, glob: string, path: string): string | undefined {
  if (/(?:^|\/)\.\.(?:\/|$)/.test(glob))
    return `".." in ${argument} matches nothing; search the folder above with path`;
  if (glob.startsWith('!')) return `a leading "!" in ${argument} does not negate it; use exclude`;
  const folder = `${path.replace(/^(?:\.?\/+)+|\/+$/g, '')}/`;
  const plain = glob.replace(/^(?:\.?\/+)+/, '');
  if (folder === '/' || folder === './' || !plain.startsWith(folder)) return undefined;
  return `${argument} is relative to path; write ${JSON.stringify(plain.slice(folder.length))}`;
}
