import type { RE2JS } from 're2js';
import type { Program } from '../automaton/program.ts';
import { windowsOf } from './byte-window.ts';
import { NeedlePrefilter } from './needle-prefilter.ts';
import type { Prefilter } from './prefilter.ts';
import { requiredLiterals } from './required-literals.ts';
import { WindowPrefilter } from './window-prefilter.ts';

/** What the automaton needs for a byte, in nanoseconds: it needs no help that costs more. */
const AUTOMATON = 0.8;

/** The cheapest prefilter, or undefined if none pays. */
export function choosePrefilter(regex: RE2JS, program: Program | undefined): Prefilter | undefined {
  const literals = requiredLiterals(regex);
  const windows = program === undefined ? [] : windowsOf(program);
  const filters: Prefilter[] = windows.map((window) => new WindowPrefilter(window));
  if (literals !== undefined) filters.push(new NeedlePrefilter(literals.map((literal) => Buffer.from(literal))));
  const best = filters.reduce<Prefilter | undefined>((a, b) => (a === undefined || b.cost < a.cost ? b : a), undefined);
  return best !== undefined && best.cost < AUTOMATON ? best : undefined;
}
