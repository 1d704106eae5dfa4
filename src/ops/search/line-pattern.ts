import { RE2JS, RE2JSException } from 're2js';
import { RingfenceError } from '../../errors.ts';
import { requiredLiterals } from './required-literals.ts';

/** Compiling takes time with the length, and nobody writes such a pattern by hand. */
const MAX_PATTERN_LENGTH = 64 * 1024;

/** Beyond this, looking for the exact place of a match is too slow, and is done in a part that holds one. */
const WINDOW = 16 * 1024;

export interface LinePatternOptions {
  readonly pattern: string;
  /** The pattern is plain text, not a regular expression. */
  readonly literal: boolean;
  readonly caseInsensitive: boolean;
}

/** A compiled pattern, as the search of lines needs it. */
export interface LinePattern {
  /** Every matching line holds the bytes of at least one of these. */
  readonly needles: readonly Buffer[] | undefined;
  /** A line that holds a needle matches without a further look. */
  readonly needleSuffices: boolean;
  test(text: string): boolean;
  /** Where in a matching text the first match begins; in very long texts, a place that looks like it. */
  positionIn(text: string): number;
}

/** Compiles RE2 syntax, or plain text. Raises `invalid_pattern` with the parser's own words. */
export function compileLinePattern({ pattern, literal, caseInsensitive }: LinePatternOptions): LinePattern {
  const regex = compileRegex(literal ? RE2JS.quote(pattern) : pattern, caseInsensitive);
  const literals = requiredLiterals(regex);
  const { prefixComplete, prefix } = regex.re2() as { prefixComplete: boolean; prefix: string };
  return {
    needles: literals?.map((text) => Buffer.from(text)),
    needleSuffices: prefixComplete && literals?.length === 1 && literals[0] === prefix && !prefix.includes('\n'),
    test: (text) => regex.test(text),
    positionIn: (text) => positionIn(regex, text),
  };
}

/** Compiles RE2 syntax. Raises `invalid_pattern`. */
export function compileRegex(pattern: string, caseInsensitive = false): RE2JS {
  if (pattern.length > MAX_PATTERN_LENGTH)
    throw new RingfenceError('invalid_pattern', { problem: `pattern is longer than ${MAX_PATTERN_LENGTH} characters` });
  try {
    return RE2JS.compile(pattern, caseInsensitive ? RE2JS.CASE_INSENSITIVE : 0);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    // The parser would quote the flag as a part of the pattern.
    if (caseInsensitive) return compileRegex(pattern);
    throw new RingfenceError('invalid_pattern', { problem: error.message }, { cause: error });
  }
}

function positionIn(regex: RE2JS, text: string): number {
  for (let start = 0; start < text.length; start += WINDOW / 2) {
    const part = text.length <= WINDOW ? text : text.slice(start, start + WINDOW);
    if (!regex.test(part)) continue;
    const matcher = regex.matcher(part);
    return matcher.find() ? start + matcher.start() : start;
  }
  return 0;
}
