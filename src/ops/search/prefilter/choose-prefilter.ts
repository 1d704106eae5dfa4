import type { RE2JS } from 're2js';
import type { Program } from '../automaton/program.ts';
import { windowsOf } from './byte-window.ts';
import { planJumps } from './jump-prefilter.ts';
import { planNeedles } from './needle-prefilter.ts';
import type { Plan, Prefilter } from './prefilter.ts';
import { planRareByte } from './rare-byte-prefilter.ts';
import { requiredLiterals } from './required-literals.ts';

/** What the automaton takes for a byte, in nanoseconds: help that costs more is none. */
const AUTOMATON = 1.2;
/** Not worth looking for anything better. */
const CHEAP = 0.25;

/** The cheapest prefilter, or undefined if none pays. */
export function choosePrefilter(regex: RE2JS, program: Program): Prefilter | undefined {
  const literals = requiredLiterals(regex);
  const plans = literals === undefined ? [] : [planNeedles(literals)];
  if (!plans.some(({ cost }) => cost <= CHEAP)) {
    for (const window of windowsOf(program)) plans.push(planRareByte(window), planJumps(window));
  }
  let best: Plan | undefined;
  for (const plan of plans) if (plan.cost < (best?.cost ?? AUTOMATON)) best = plan;
  return best?.build();
}
