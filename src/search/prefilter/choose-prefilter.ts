import type { RE2JS } from 're2js';
import type { SearchMemory } from '../kernels/search-memory.ts';
import type { Program } from '../pattern/program.ts';
import { lineStartSequence, prefixSequences, requiredSequences } from './byte-sequence.ts';
import { exactSequences } from './exact-sequences.ts';
import type { Prefilter, PrefilterPlan } from './prefilter.ts';
import { requiredLiterals } from './required-literals.ts';
import { planExactSequences, planLineStarts, planSequences } from './simd-prefilter.ts';

/** Nanoseconds per byte that the DFA takes. A prefilter that costs more does not pay off. */
const DFA_COST = 1.2;

/**
 * Returns the prefilter with the lowest estimated cost for blocks in SIMD memory, or undefined if the DFA alone is
 * cheaper. Background: "prefilters" and "literal optimizations" in https://burntsushi.net/regex-internals/.
 */
export function choosePrefilter(regex: RE2JS, program: Program, memory: SearchMemory): Prefilter | undefined {
  const plans = plansFor(requiredLiterals(regex), program, memory);
  let best: PrefilterPlan | undefined;
  for (const plan of plans) if (plan.cost < (best?.cost ?? DFA_COST)) best = plan;
  return best?.build();
}

function plansFor(literals: Buffer[] | undefined, program: Program, memory: SearchMemory): PrefilterPlan[] {
  const exact = exactSequences(program);
  if (exact !== undefined) return [planExactSequences(exact, memory)];
  const plans = requiredSequences(program).map((sequence) => planSequences([sequence], memory));
  const prefixes = prefixSequences(program);
  if (prefixes.length > 0) plans.push(planSequences(prefixes, memory));
  const start = lineStartSequence(program);
  if (start !== undefined) plans.push(planLineStarts(start, memory));
  if (literals === undefined) return plans;
  return [
    ...plans,
    planSequences(
      literals.map((literal) => Array.from(literal, (byte) => [byte])),
      memory,
    ),
  ];
}
