import type { RE2JS } from 're2js';
import type { SearchMemory } from '../kernels/search-memory.ts';
import type { Program } from '../pattern/program.ts';
import { beginningsOf, lineStartWindow, windowsOf } from './byte-sequence.ts';
import { exactWindows } from './exact-sequences.ts';
import type { Plan, Prefilter } from './prefilter.ts';
import { requiredLiterals } from './required-literals.ts';
import { planSimd, planSimdAtStart, planSimdExactly } from './simd-prefilter.ts';

/** What the automaton takes for a byte, in nanoseconds: help that costs more is none. */
const AUTOMATON = 1.2;

/** The cheapest prefilter for the regions that a memory holds, or undefined if none pays. */
export function choosePrefilter(regex: RE2JS, program: Program, memory: SearchMemory): Prefilter | undefined {
  const plans = plansFor(requiredLiterals(regex), program, memory);
  let best: Plan | undefined;
  for (const plan of plans) if (plan.cost < (best?.cost ?? AUTOMATON)) best = plan;
  return best?.build();
}

function plansFor(literals: Buffer[] | undefined, program: Program, memory: SearchMemory): Plan[] {
  const exact = exactWindows(program);
  if (exact !== undefined) return [planSimdExactly(exact, memory)];
  const plans = windowsOf(program).map((window) => planSimd([window], memory));
  const beginnings = beginningsOf(program);
  if (beginnings.length > 0) plans.push(planSimd(beginnings, memory));
  const start = lineStartWindow(program);
  if (start !== undefined) plans.push(planSimdAtStart(start, memory));
  if (literals === undefined) return plans;
  return [
    ...plans,
    planSimd(
      literals.map((literal) => Array.from(literal, (byte) => [byte])),
      memory,
    ),
  ];
}
