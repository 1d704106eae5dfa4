import os from 'node:os';
import fc from 'fast-check';
import { RE2JS, RE2JSException } from 're2js';
import { afterAll, expect, test } from 'vitest';
import { Root } from '../../src/fence/index.ts';
import { compileLinePattern } from '../../src/search/file/line-pattern.ts';
import { PrefilteredScan } from '../../src/search/file/line-scan.ts';
import { SearchMemory } from '../../src/search/kernels/search-memory.ts';
import { DfaMatcher } from '../../src/search/pattern/dfa-matcher.ts';
import {
  linesFound,
  linesThat,
  longTexts,
  patterns,
  resumed,
  texts,
} from '../../src/search/pattern/line-patterns.fixture.ts';
import { PikeMatcher } from '../../src/search/pattern/pike-matcher.ts';
import { type Program, programOf } from '../../src/search/pattern/program.ts';
import { lineStartSequence, prefixSequences, requiredSequences } from '../../src/search/prefilter/byte-sequence.ts';
import { exactSequences } from '../../src/search/prefilter/exact-sequences.ts';
import { requiredLiterals } from '../../src/search/prefilter/required-literals.ts';
import { planExactSequences, planLineStarts, planSequences } from '../../src/search/prefilter/simd-prefilter.ts';

const stop = { raised: false };
const root = Root.open('w', os.tmpdir());
const memory = new SearchMemory();
const buffer = memory.take(root);
afterAll(() => root[Symbol.dispose]());

/** The same bytes where 16 can be compared at once, with others behind them. */
function inMemory(bytes: Buffer): Buffer {
  bytes.copy(buffer, bytes.copy(buffer));
  return buffer.subarray(0, bytes.length);
}

/** Undefined if the pattern is not valid. */
function compiled(pattern: string): RE2JS | undefined {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    if (error instanceof RE2JSException) return undefined;
    throw error;
  }
}

type Search = (regex: RE2JS, bytes: Buffer) => Iterable<(from: number) => number>;

/** Compares with re2js on decoded lines. */
function check(search: Search, samples: fc.Arbitrary<Buffer[]>, numRuns: number): void {
  let matching = 0;
  fc.assert(
    fc.property(patterns, samples, (pattern, samples) => {
      const regex = compiled(pattern);
      fc.pre(regex !== undefined);
      for (const bytes of samples) {
        const expected = linesThat((line) => regex.test(line), bytes);
        matching += expected.length;
        for (const next of search(regex, bytes)) expect(linesFound(next, bytes)).toEqual(expected);
      }
    }),
    { numRuns },
  );
  expect(matching).toBeGreaterThan(numRuns / 2);
}

const short = fc.array(texts, { minLength: 1, maxLength: 4 });
const long = fc.tuple(longTexts);

const byPattern: Search = (regex, bytes) => {
  const options = { pattern: regex.pattern(), literal: false, caseInsensitive: false };
  const pattern = compileLinePattern(options, { memory });
  return [bytes, inMemory(bytes)].map((block) => {
    const scan = pattern.scan(block);
    return (from) => resumed(scan.next(from), scan);
  });
};

test('finds the lines that match when they are decoded', () => {
  check(byPattern, short, 2_000);
});

test('finds them in long texts too', () => {
  check(byPattern, long, 100);
});

test('no prefilter misses a line, whether it would be chosen or not', () => {
  const byAnyPrefilter: Search = (regex, bytes) => {
    const program = programOf(regex);
    const sequences = requiredSequences(program);
    const plans = sequences.map((sequence) => planSequences([sequence], memory));
    const beginnings = prefixSequences(program);
    if (beginnings.length > 0) plans.push(planSequences(beginnings, memory));
    const exact = exactSequences(program);
    if (exact !== undefined && exact.length > 0) plans.push(planExactSequences(exact, memory));
    const start = lineStartSequence(program);
    if (start !== undefined) plans.push(planLineStarts(start, memory));
    const literals = requiredLiterals(regex);
    if (literals !== undefined) {
      plans.push(
        planSequences(
          literals.map((literal) => Array.from(literal, (byte) => [byte])),
          memory,
        ),
      );
    }
    const block = inMemory(bytes);
    const matcher = new PikeMatcher(program, stop);
    return plans.map((plan) => {
      const scan = new PrefilteredScan(block, { matcher, finder: plan.build()(block), gaveUp: () => {} });
      return (from) => resumed(scan.next(from), scan);
    });
  };
  check(byAnyPrefilter, short, 1_000);
  check(byAnyPrefilter, long, 50);
});

test('the automaton may forget its states at any time, and give up', () => {
  const withLittleMemory: Search = (regex, bytes) => {
    const program = programOf(regex);
    const fallback = new PikeMatcher(program, stop);
    const automaton = new DfaMatcher({ program, fallback, stop, memory: littleMemory(program) });
    return [(from) => resumed(automaton.next(bytes, from, bytes.length), automaton)];
  };
  check(withLittleMemory, short, 1_000);
  check(withLittleMemory, long, 100);
});

test('engines and scans may pause at any time', () => {
  const pausing: Search = (regex, bytes) => {
    const program = programOf(regex);
    const workPerTurn = program.code.length;
    const fallback = new PikeMatcher(program, stop, workPerTurn);
    const pike = new PikeMatcher(program, stop, workPerTurn);
    const automaton = new DfaMatcher({ program, fallback, stop, workPerTurn });
    const forgetful = new DfaMatcher({ program, fallback: pike, stop, workPerTurn, memory: littleMemory(program) });
    const block = inMemory(bytes);
    const scans = requiredSequences(program).map((sequence) => {
      const finder = planSequences([sequence], memory).build()(block);
      return new PrefilteredScan(block, { matcher: fallback, finder, gaveUp: () => {} });
    });
    return [
      ...[automaton, forgetful, pike].map(
        (matcher) => (from: number) => resumed(matcher.next(bytes, from, bytes.length), matcher),
      ),
      ...scans.map((scan) => (from: number) => resumed(scan.next(from), scan)),
    ];
  };
  check(pausing, short, 1_000);
  check(pausing, long, 50);
});

/** For a few states only. */
function littleMemory({ code }: Program): number {
  return 8 * (1_500 + 4 * code.length);
}
