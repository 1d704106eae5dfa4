import os from 'node:os';
import { RE2JS } from 're2js';
import { afterAll, expect, test } from 'vitest';
import { Root } from '../../fence/index.ts';
import { SearchMemory } from '../kernels/search-memory.ts';
import type { LineMatcher } from '../pattern/line-matcher.ts';
import { linesFound, linesThat, resumed } from '../pattern/line-patterns.fixture.ts';
import { PikeMatcher } from '../pattern/pike-matcher.ts';
import { programOf } from '../pattern/program.ts';
import { requiredSequences } from '../prefilter/byte-sequence.ts';
import { exactSequences } from '../prefilter/exact-sequences.ts';
import type { PrefilterPlan } from '../prefilter/prefilter.ts';
import { planExactSequences, planSequences } from '../prefilter/simd-prefilter.ts';
import { PrefilteredScan } from './line-scan.ts';

const PATTERN = '[a-z]{2}[0-9]{6}X?[a-z]{2}';
const program = programOf(RE2JS.compile(PATTERN));
const [sequence] = requiredSequences(program);
if (sequence === undefined) throw new Error('no sequence');
const root = Root.open('w', os.tmpdir());
const memory = new SearchMemory();
const buffer = memory.take(root);
afterAll(() => root[Symbol.dispose]());
const PLANS: [string, PrefilterPlan][] = [
  ['a class of bytes', planSequences([sequence.slice(2, 4)], memory)],
  ['a byte', planSequences([[[0x30]]], memory)],
  ['several bytes', planSequences([[[0x30]], [[0x31]], [[0x32]], [[0x33]]], memory)],
];

/** Counts its calls and the bytes it was given. */
class Counted implements LineMatcher {
  calls = 0;
  bytes = 0;
  readonly #matcher = new PikeMatcher(program, { raised: false });

  next(bytes: Buffer, from: number, to: number): number {
    const at = resumed(this.#matcher.next(bytes, from, to), this.#matcher);
    this.calls += 1;
    this.bytes += (at === -1 ? to : at) - from;
    return at;
  }

  resume(): number {
    return this.#matcher.resume();
  }
}

function search(plan: PrefilterPlan, text: Buffer) {
  const bytes = buffer.subarray(0, text.copy(buffer));
  const matcher = new Counted();
  let gaveUp = false;
  const finder = plan.build()(bytes);
  const scan = new PrefilteredScan(bytes, {
    matcher,
    finder,
    gaveUp: () => {
      gaveUp = true;
    },
  });
  const found = linesFound((from) => resumed(scan.next(from), scan), bytes);
  return { found, looked: matcher.bytes, calls: matcher.calls, gaveUp };
}

test.each(PLANS)('%s do not run the matcher on lines that cannot match', (_what, plan) => {
  const line = 'nothing in here at all\n';
  const bytes = Buffer.from(`${line.repeat(2_000)}ab102030cd\n${line.repeat(2_000)}`);
  const { found, looked, gaveUp } = search(plan, bytes);
  expect(found).toEqual([2_000 * line.length]);
  expect(looked).toBeLessThan(100);
  expect(gaveUp).toBe(false);
});

test.each(PLANS)('%s give up on too many false positives without missing a match', (_what, plan) => {
  const line = '2024 120000 930201 100230123 x0012300 ab 000000 12345\n';
  const bytes = Buffer.from(`${line.repeat(1_000)}ab102030cd\n${line.repeat(1_000)}xy000000Xab`);
  const { found, looked, calls, gaveUp } = search(plan, bytes);
  expect(gaveUp).toBe(true);
  expect(found).toEqual(linesThat((text) => RE2JS.compile(PATTERN).test(text), bytes));
  expect(found).toHaveLength(2);
  expect(looked).toBeGreaterThan(bytes.length / 4);
  expect(looked).toBeLessThanOrEqual(bytes.length);
  expect(calls).toBeLessThan(500);
});

/** Returns a scan by exact sequences, with a matcher that finds nothing. */
function exactScan(pattern: string, bytes: Buffer): PrefilteredScan {
  const sequences = exactSequences(programOf(RE2JS.compile(pattern))) ?? [];
  const finder = planExactSequences(sequences, memory).build()(bytes);
  return new PrefilteredScan(bytes, { matcher: { next: () => -1, resume: () => -1 }, finder, gaveUp: () => {} });
}

test('exact sequences do not run the matcher', () => {
  const bytes = buffer.subarray(0, buffer.write('some text\nwith bar in it\nand foo\n'));
  const scan = exactScan('foo|bar', bytes);
  expect(scan.next(0)).toBe(15);
  expect(scan.next(25)).toBe(29);
});

test('a candidate past the end of the block, or after the budget is used up, is not taken as a match', () => {
  buffer.write('xxabcd\n');
  expect(exactScan('zz|abcd', buffer.subarray(0, 4)).next(0)).toBe(-1);
  expect(exactScan('zz|abcd', buffer.subarray(0, 7)).next(0)).toBe(2);
  buffer.fill('Q', 0, 200_000);
  expect(exactScan('QQQQA|QQQQB', buffer.subarray(0, 200_000)).next(0)).toBe(-1);
});
