import type { RE2JS } from 're2js';
import type { Program } from '../automaton/program.ts';
import type { SearchMemory } from '../simd/search-memory.ts';
import { beginningsOf, lineStartWindow, windowsOf } from './byte-window.ts';
import { exactWindows } from './exact-windows.ts';
import { planJumps } from './jump-prefilter.ts';
import { planNeedles } from './needle-prefilter.ts';
import type { Plan, Prefilter } from './prefilter.ts';
import { planRareByte } from './rare-byte-prefilter.ts';
import { requiredLiterals } from './required-literals.ts';
import { planSimd, planSimdAtStart, planSimdExactly } from './simd-prefilter.ts';

/** What the automaton takes for a byte, in nanoseconds: help that costs more is none. */
const AUTOMATON = 1.2;
/** Not worth looking for anything better. */
const CHEAP = 0.25;

/** The cheapest prefilter, or undefined if none pays. With a memory, it is one for the regions that this memory holds. */
export function choosePrefilter(regex: RE2JS, program: Program, memory?: SearchMemory): Prefilter | undefined {
  const literals = requiredLiterals(regex);
  const plans = memory === undefined ? plainPlans(literals, program) : simdPlans(literals, program, memory);
  let best: Plan | undefined;
  for (const plan of plans) if (plan.cost < (best?.cost ?? AUTOMATON)) best = plan;
  return best?.build();
}

function plainPlans(literals: Buffer[] | undefined, program: Program): Plan[] {
  const plans = literals === undefined ? [] : [planNeedles(literals)];
  if (plans.some(({ cost }) => cost <= CHEAP)) return plans;
  for (const window of windowsOf(program)) plans.push(planRareByte(window), planJumps(window));
  return plans;
}

function simdPlans(literals: Buffer[] | undefined, program: Program, memory: SearchMemory): Plan[] {
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
