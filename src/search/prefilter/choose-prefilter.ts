import type { RE2JS } from 're2js';
import type { SearchMemory } from '../kernels/search-memory.ts';
import type { Program } from '../pattern/program.ts';
import { lineStartSequence, prefixSequences, requiredSequences } from './byte-sequence.ts';
import { exactSequences } from './exact-sequences.ts';
import type { Prefilter, PrefilterPlan } from './prefilter.ts';
import { requiredLiterals } from './required-literals.ts';
import { planExactSequences, planLineStarts, planSequences } from './simd-prefilter.ts';

/** What the automaton takes for a byte, in nanoseconds: help that costs more is none. */
const AUTOMATON = 1.2;

/** The cheapest prefilter for the regions that a memory holds, or undefined if none pays. */
export function choosePrefilter(regex: RE2JS, program: Program, memory: SearchMemory): Prefilter | undefined {
  const plans = plansFor(requiredLiterals(regex), program, memory);
  let best: PrefilterPlan | undefined;
  for (const plan of plans) if (plan.cost < (best?.cost ?? AUTOMATON)) best = plan;
  return best?.build();
}

function plansFor(literals: Buffer[] | undefined, program: Program, memory: SearchMemory): PrefilterPlan[] {
  const exact = exactSequences(program);
  if (exact !== undefined) return [planExactSequences(exact, memory)];
  const plans = requiredSequences(program).map((sequence) => planSequences([sequence], memory));
  const beginnings = prefixSequences(program);
  if (beginnings.length > 0) plans.push(planSequences(beginnings, memory));
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
