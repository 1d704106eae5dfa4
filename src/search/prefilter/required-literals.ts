import type { RE2JS } from 're2js';
import { FREQUENCIES, jointProbability } from './byte-frequency.ts';

/** With more literals, searching for them costs more than it saves. */
const MAX_NEEDLES = 32;

/** The prefilter that re2js derives from a pattern: literals combined by "all of" and "one of". */
interface Requirement {
  readonly type: number;
  readonly str: string;
  readonly subs: readonly Requirement[];
}

const EXACT = 1;
const ALL_OF = 2;
const ONE_OF = 3;

/**
 * Returns byte strings of which every matching text contains at least one, or undefined if the pattern requires none.
 * Case-insensitive parts require none. If there are several such sets, the one that is rarest in typical text is
 * chosen. See "literal extraction" in https://burntsushi.net/regex-internals/.
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

/** Returns the estimated probability that one of the literals starts at a given position of typical text. */
function chanceOfAny(literals: readonly string[]): number {
  let chance = 0;
  for (const literal of literals) {
    chance += jointProbability(Array.from(Buffer.from(literal), (byte) => FREQUENCIES[byte] as number));
  }
  return chance;
}
