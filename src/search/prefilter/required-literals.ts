import type { RE2JS } from 're2js';
import { FREQUENCIES, jointProbability } from './byte-frequency.ts';

/** More needles than this cost more to look for than they save. */
const MAX_NEEDLES = 32;

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
 * Strings of bytes of which every text that the pattern matches holds at least one, or undefined where the pattern
 * demands none. Case-insensitive parts demand none. Of several demands the rarest in typical text is taken.
 */
export function requiredLiterals(pattern: RE2JS): Buffer[] | undefined {
  const requirement = pattern.re2().prefilter as Requirement | null;
  return requirement === null ? undefined : literalsOf(requirement)?.map((literal) => Buffer.from(literal));
}

function literalsOf(requirement: Requirement): string[] | undefined {
  if (requirement.type === EXACT) return requirement.str === '' ? undefined : [requirement.str];
  const parts = requirement.subs.map(literalsOf);
  if (requirement.type === ALL_OF) return rarest(parts.filter((part) => part !== undefined));
  if (requirement.type !== ONE_OF || parts.length === 0) return undefined;
  const all = new Set<string>();
  for (const part of parts) {
    if (part === undefined) return undefined;
    for (const literal of part) all.add(literal);
  }
  return all.size > MAX_NEEDLES ? undefined : [...all];
}

function rarest(demands: string[][]): string[] | undefined {
  const [first, ...others] = demands;
  if (first === undefined || others.length === 0) return first;
  const chances = demands.map(chanceOfAny);
  return demands[chances.indexOf(Math.min(...chances))];
}

/** How likely one of some literals begins at a place of typical text. */
function chanceOfAny(literals: readonly string[]): number {
  let chance = 0;
  for (const literal of literals) {
    chance += jointProbability(Array.from(Buffer.from(literal), (byte) => FREQUENCIES[byte] as number));
  }
  return chance;
}
