import type { RE2JS } from 're2js';

/** More needles than this cost more to look for than they save. */
const MAX_NEEDLES = 8;

/** What re2js finds out about a pattern for its own use: literals under "all of" and "one of". */
interface Requirement {
  readonly type: number;
  readonly str: string;
  readonly subs: readonly Requirement[];
}

const EXACT = 1;
const ALL_OF = 2;
const ONE_OF = 3;

/**
 * Strings of which every text that the pattern matches holds at least one, or undefined where the pattern demands
 * none. Case-insensitive parts demand none. Longer and fewer is better: of several demands the most telling is taken.
 */
export function requiredLiterals(pattern: RE2JS): string[] | undefined {
  const requirement = pattern.re2().prefilter as Requirement | null;
  return requirement === null ? undefined : literalsOf(requirement);
}

function literalsOf(requirement: Requirement): string[] | undefined {
  if (requirement.type === EXACT) return requirement.str === '' ? undefined : [requirement.str];
  const parts = requirement.subs.map(literalsOf);
  if (requirement.type === ALL_OF) {
    return parts.filter((part) => part !== undefined).reduce<string[] | undefined>(better, undefined);
  }
  if (requirement.type !== ONE_OF || parts.length === 0) return undefined;
  const all = new Set<string>();
  for (const part of parts) {
    if (part === undefined) return undefined;
    for (const literal of part) all.add(literal);
  }
  return all.size > MAX_NEEDLES ? undefined : [...all];
}

function better(a: string[] | undefined, b: string[]): string[] {
  return a === undefined || worth(b) > worth(a) ? b : a;
}

/** The shortest needle decides how often the search stops in vain, each further one is a scan more. */
function worth(literals: string[]): number {
  return Math.min(...literals.map((literal) => literal.length)) / literals.length;
}
