import { RE2JS } from 're2js';
import { expect, test } from 'vitest';
import { DfaMatcher } from './dfa-matcher.ts';
import { type LineMatcher, PAUSED } from './line-matcher.ts';
import { linesFound, linesThat, resumed } from './line-patterns.fixture.ts';
import { PikeMatcher } from './pike-matcher.ts';
import { programOf } from './program.ts';

const RUNNING = { raised: false };

/** Counts the bytes that the fallback scanned. */
class Counted implements LineMatcher {
  bytes = 0;
  readonly #matcher: LineMatcher;

  constructor(matcher: LineMatcher) {
    this.#matcher = matcher;
  }

  next(bytes: Buffer, from: number, to: number): number {
    const at = this.#matcher.next(bytes, from, to);
    this.bytes += (at < 0 ? to : at) - from;
    return at;
  }

  resume(): number {
    return this.#matcher.resume();
  }
}

function automatonOf(pattern: string, stop = RUNNING) {
  const program = programOf(RE2JS.compile(pattern));
  const fallback = new Counted(new PikeMatcher(program, stop));
  return { automaton: new DfaMatcher({ program, fallback, stop }), fallback };
}

function randomLetters(length: number, letters: string): Buffer {
  const bytes = Buffer.alloc(length);
  let seed = 7;
  for (let i = 0; i < length; i += 1) {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    bytes[i] = letters.charCodeAt(Math.floor((seed / 2 ** 31) * letters.length));
  }
  return bytes;
}

test.each(['b{5}a', 'a\\b', '^ab', 'ab$', '^$', '(a|b)b+\\r?$', '\\Bab\\B', 'c'])(
  'finds lines wherever they lie: %s',
  (pattern) => {
    const regex = RE2JS.compile(pattern);
    for (const letters of [
      'ab\n',
      'aaaaaaaaaaab \n',
      'ab',
      `${'d'.repeat(200)}c\n`,
      `${'ab'.repeat(300)}\n`,
      'ab\r\n',
    ]) {
      for (const length of [1, 1_000, 30_000, 300_000]) {
        const bytes = randomLetters(length, letters);
        const { automaton } = automatonOf(pattern);
        const found = linesFound((from) => resumed(automaton.next(bytes, from, bytes.length), automaton), bytes);
        expect(found).toEqual(linesThat((line) => regex.test(line), bytes));
      }
    }
  },
);

test('a match in the first half of a block is reported before one in the second half', () => {
  const bytes = Buffer.alloc(64 * 1024, 'some text without it\n');
  bytes.write('needle', 60_000);
  const { automaton } = automatonOf('[n]eedle');
  expect(automaton.next(bytes, 0, bytes.length)).toBe(60_005);
  bytes.write('needle', 30_000);
  expect(automaton.next(bytes, 0, bytes.length)).toBe(30_005);
});

test('dead lines are skipped, short and long ones, and a last line without LF', () => {
  const short = 'x\n'.repeat(20_000);
  const long = `${'x'.repeat(2_000)}\n`.repeat(400);
  for (const text of [`${short}${long}${short}`, `${long}${short}${long}`]) {
    const bytes = Buffer.from(`ab\n${text}ab\n${text}ab\n${text}xab`);
    const { automaton } = automatonOf('^a[b]$');
    const found = linesFound((from) => resumed(automaton.next(bytes, from, bytes.length), automaton), bytes);
    expect(found).toEqual(linesThat((line) => line === 'ab', bytes));
    expect(found).toHaveLength(3);
  }
});

test('states that pay off are rebuilt after a flush', () => {
  const { automaton, fallback } = automatonOf('[ab]*a[ab]{9}c');
  const bytes = randomLetters(400_000, 'ab');
  expect(resumed(automaton.next(bytes, 0, bytes.length), automaton)).toBe(-1);
  expect(fallback.bytes).toBe(0);
});

test('if states do not pay off, the Pike VM takes over the rest of the text, once', () => {
  const { automaton, fallback } = automatonOf('[ab]*a[ab]{40}c');
  const bytes = Buffer.concat([randomLetters(60_000, 'ab\n'), randomLetters(100_000, 'ab')]);
  expect(resumed(automaton.next(bytes, 0, bytes.length), automaton)).toBe(-1);
  expect(fallback.bytes).toBeGreaterThan(0);
  expect(fallback.bytes).toBeLessThanOrEqual(bytes.length);
});

test('finds nothing after the stop flag is raised', () => {
  const bytes = Buffer.from('x\n'.repeat(10_000));
  const stop = { raised: false };
  const { automaton } = automatonOf('[x]', stop);
  const nfa = new PikeMatcher(programOf(RE2JS.compile('[x]')), stop);
  expect(automaton.next(bytes, 0, bytes.length)).toBe(0);
  expect(nfa.next(bytes, 0, bytes.length)).toBe(0);
  stop.raised = true;
  expect(automaton.next(bytes, 0, bytes.length)).toBe(-1);
  expect(nfa.next(bytes, 0, bytes.length)).toBe(-1);
});

test('a large program pauses many times in one long line, and goes on where it was', () => {
  const alternatives = Array.from({ length: 20 }, (_, i) => `${String.fromCharCode(97 + i)}.{990}X`);
  const program = programOf(RE2JS.compile(alternatives.join('|')));
  const bytes = Buffer.concat([randomLetters(3_000, 'abcdefghijklmnopqrst'), Buffer.from('X\n')]);
  const fallback = new PikeMatcher(program, RUNNING);
  for (const matcher of [new PikeMatcher(program, RUNNING), new DfaMatcher({ program, fallback, stop: RUNNING })]) {
    let pauses = 0;
    let at = matcher.next(bytes, 0, bytes.length);
    for (; at === PAUSED; at = matcher.resume()) pauses += 1;
    expect(at).toBe(3_000);
    expect(pauses).toBeGreaterThan(10);
  }
});
