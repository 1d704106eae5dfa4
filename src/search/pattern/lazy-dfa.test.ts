import { RE2JS } from 're2js';
import { expect, test } from 'vitest';
import { DEAD, LazyDfa, MATCHED, START } from './lazy-dfa.ts';
import { programOf } from './program.ts';

const dfaOf = (pattern: string) => new LazyDfa(programOf(RE2JS.compile(pattern)));

/** Returns the state after a text. */
function after(dfa: LazyDfa, text: string | Buffer): number {
  let state = START;
  for (const byte of Buffer.from(text)) state = dfa.next(state, byte);
  return state;
}

test('a match is detected at its last byte, or at the byte that decides an assertion', () => {
  expect(after(dfaOf('ab+'), 'xab')).toBe(MATCHED);
  expect(after(dfaOf('ab\\b'), 'xab')).not.toBe(MATCHED);
  expect(after(dfaOf('ab\\b'), 'xab ')).toBe(MATCHED);
  expect(after(dfaOf('ab$'), 'xab')).not.toBe(MATCHED);
  expect(after(dfaOf('ab$'), 'xab\n')).toBe(MATCHED);
  expect(after(dfaOf('^$'), '\n')).toBe(MATCHED);
});

test('LF leads back to the start state', () => {
  const dfa = dfaOf('^ab');
  expect(after(dfa, 'x\n')).toBe(START);
  expect(after(dfa, 'xab\na')).toBe(after(dfa, 'a'));
});

test('only LF leaves the dead state', () => {
  const dfa = dfaOf('^ab$');
  for (const text of ['b', 'abé', 'x\xff\x80', 'a😀']) {
    expect(after(dfa, text)).toBe(DEAD);
    expect(dfa.matchesAtEnd(DEAD)).toBe(false);
    expect(after(dfa, `${text}\n`)).toBe(START);
  }
  expect(after(dfaOf('[^\\x00-\\x{10ffff}]'), 'a')).toBe(DEAD);
  expect(dfa.flush(DEAD)).toEqual({ state: DEAD, back: 0 });
});

test('characters that a pattern does not distinguish share states', () => {
  const dfa = dfaOf('a.b');
  after(dfa, 'a');
  const { states } = dfa;
  after(dfa, 'aé');
  const withTwoBytes = dfa.states;
  expect(withTwoBytes).toBeGreaterThan(states);
  for (let rune = 0x80; rune < 0x800; rune += 1) after(dfa, `a${String.fromCodePoint(rune)}`);
  expect(dfa.states).toBe(withTwoBytes);
});

test.each([
  ['(x+x+)+y', 'x'.repeat(50_000)],
  ['(a*)*b', 'a'.repeat(50_000)],
  ['(a|aa)+$', `${'a'.repeat(50_000)}b`],
  [`${'a?'.repeat(200)}${'a'.repeat(200)}b`, 'a'.repeat(50_000)],
  ['(.*)(.*)(.*)(.*)(.*)=', 'abc '.repeat(10_000)],
])('patterns that take backtracking engines exponential time need few states: %s', (pattern, text) => {
  const dfa = dfaOf(pattern);
  after(dfa, text);
  expect(dfa.states).toBeLessThan(1_000);
});

test('the memory for states is limited', () => {
  const dfa = dfaOf('[ab]*a[ab]{30}c');
  let seed = 1;
  let state = START;
  for (let i = 0; i < 20_000; i += 1) {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    if (dfa.full) ({ state } = dfa.flush(state));
    state = dfa.next(state, seed > 2 ** 30 ? 0x61 : 0x62);
    expect(dfa.states).toBeLessThan(4_000);
  }
  expect(dfa.table.byteLength).toBeLessThanOrEqual(4 * 1024 * 1024);
});

test('a flush inside a character rewinds to its first byte', () => {
  const dfa = dfaOf('a😀b');
  const text = Buffer.from('xa😀b');
  for (let cut = 0; cut < text.length; cut += 1) {
    let { state, back } = dfa.flush(after(dfa, text.subarray(0, cut)));
    expect(back).toBe(cut > 2 && cut < 6 ? cut - 2 : 0);
    for (const byte of text.subarray(cut - back)) state = dfa.next(state, byte);
    expect(state).toBe(MATCHED);
  }
});

test('programs of which hardly any state would fit are rejected', () => {
  expect(LazyDfa.fits(programOf(RE2JS.compile('a{1000}')))).toBe(true);
  expect(LazyDfa.fits(programOf(RE2JS.compile('(?:abcdefghij){1000}'.repeat(8))))).toBe(false);
});
