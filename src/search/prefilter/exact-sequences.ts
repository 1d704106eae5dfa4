import { type Instruction, JUMP, MATCH, type Program, RUNES, SPLIT } from '../pattern/program.ts';
import { changesUpTo, type RuneSet } from '../pattern/rune-set.ts';
import { leadOf, REPLACEMENT } from '../pattern/utf8.ts';
import { type ByteSequence, MAX_SEQUENCES } from './byte-sequence.ts';
import { MAX_POSITIONS } from './probe-tables.ts';

const LF = 0x0a;
const ASCII_END = 0x80;
/** Range of the UTF-16 surrogates, which have no encoding in UTF-8. */
const FIRST_SURROGATE = 0xd800;
const LAST_SURROGATE = 0xdfff;
/** With more non-ASCII characters at one position there would be too many sequences. */
const MAX_RUNES = 4;
/** Limit on the enumeration, whose paths multiply at every SPLIT. A pattern of a few words takes fewer steps. */
const MAX_STEPS = 2_000;

/**
 * Returns sequences that decide the match alone: a line matches if and only if one of them occurs in it. Undefined for
 * most patterns; defined for alternatives of a few words, also case-insensitive ones. Rust's regex crate calls such
 * literals exact.
 */
export function exactSequences(program: Program): ByteSequence[] | undefined {
  const sequences: ByteSequence[] = [];
  const todo: { at: number; before: ByteSequence }[] = [{ at: program.start, before: [] }];
  let steps = 0;
  for (let path = todo.pop(); path !== undefined; path = todo.pop()) {
    const { at, before } = path;
    const { op, next, other, runes } = program.code[at] as Instruction;
    steps += 1;
    if (steps > MAX_STEPS || before.length > MAX_POSITIONS) return undefined;
    if (op === MATCH) sequences.push(before);
    else if (op === JUMP) todo.push({ at: next, before });
    else if (op === SPLIT) todo.push({ at: next, before }, { at: other, before });
    else if (op !== RUNES) return undefined;
    else {
      const encodings = encodingsOf(runes);
      if (encodings === undefined) return undefined;
      for (const encoding of encodings) todo.push({ at: next, before: [...before, ...encoding] });
    }
    if (sequences.length > MAX_SEQUENCES) return undefined;
  }
  return sequences.length > 0 && sequences.every((sequence) => sequence.length > 0) ? sequences : undefined;
}

/**
 * Returns a RegExp that finds exact sequences in a decoded string, many times as fast as re2js. It is a flat
 * alternation of characters and classes, so it cannot backtrack catastrophically.
 */
export function regExpOf(sequences: readonly ByteSequence[]): RegExp {
  return new RegExp(sequences.map(sourceOf).join('|'), 'u');
}

function sourceOf(sequence: ByteSequence): string {
  let source = '';
  for (let at = 0; at < sequence.length; ) {
    const bytes = sequence[at] as readonly number[];
    // Positions of non-ASCII characters have a single byte each.
    const length = lengthAfter(bytes[0] as number);
    const ascii = () => bytes.map((byte) => escaped(byte)).join('');
    const character = () => Buffer.from(sequence.slice(at, at + length).flat()).toString();
    source += length === 1 ? `[${ascii()}]` : escaped(character().codePointAt(0) as number);
    at += length;
  }
  return source;
}

/** Returns the number of bytes of a character that starts with this byte. */
function lengthAfter(byte: number): number {
  return 1 + (leadOf(byte)?.missing ?? 0);
}

const escaped = (rune: number): string => `\\u{${rune.toString(16)}}`;

/**
 * Returns the encodings of the characters of a set: one position for all ASCII characters, and one sequence for each
 * other character.
 */
function encodingsOf(set: RuneSet): ByteSequence[] | undefined {
  // U+FFFD also stands for bytes that are not UTF-8, surrogates have no encoding, and LF is in no line.
  if (has(set, REPLACEMENT) || overlapsSurrogates(set) || has(set, LF)) return undefined;
  const ascii: number[] = [];
  const beyond: ByteSequence[] = [];
  for (let i = 0; i < set.length; i += 2) {
    for (let rune = set[i] as number; rune < (set[i + 1] as number); rune += 1) {
      if (rune < ASCII_END) ascii.push(rune);
      else if (beyond.length === MAX_RUNES) return undefined;
      else beyond.push(Array.from(Buffer.from(String.fromCodePoint(rune)), (byte) => [byte]));
    }
  }
  return ascii.length > 0 ? [[ascii], ...beyond] : beyond;
}

function overlapsSurrogates(set: RuneSet): boolean {
  for (let i = 0; i < set.length; i += 2) {
    if ((set[i] as number) <= LAST_SURROGATE && (set[i + 1] as number) > FIRST_SURROGATE) return true;
  }
  return false;
}

function has(set: RuneSet, rune: number): boolean {
  return (changesUpTo(set, rune) & 1) === 1;
}
