import { type Instruction, JUMP, MATCH, type Program, RUNES, SPLIT } from '../pattern/program.ts';
import { changesUpTo, type RuneSet } from '../pattern/rune-set.ts';
import { leadOf, REPLACEMENT } from '../pattern/utf8.ts';
import type { ByteSequence } from './byte-sequence.ts';
import { MAX_POSITIONS, MAX_SEQUENCES } from './probe-tables.ts';

const LF = 0x0a;
const ASCII_END = 0x80;
/** Surrogates. */
const FIRST_HALF = 0xd800;
const LAST_HALF = 0xdfff;
/** With more characters beyond ASCII in one place there would be too many windows. */
const MAX_RUNES = 4;
/** Instructions that are followed, again and again where ways part; a pattern of a few words takes fewer. */
const MAX_STEPS = 2_000;

/** Windows that tell everything: a line matches if, and only if, one of them fits somewhere. Undefined for most patterns. */
export function exactSequences(program: Program): ByteSequence[] | undefined {
  const sequences: ByteSequence[] = [];
  const todo: { at: number; before: ByteSequence }[] = [{ at: program.start, before: [] }];
  let steps = 0;
  for (let kind = todo.pop(); kind !== undefined; kind = todo.pop()) {
    const { at, before } = kind;
    const { op, next, other, runes } = program.code[at] as Instruction;
    steps += 1;
    if (steps > MAX_STEPS || before.length > MAX_POSITIONS) return undefined;
    if (op === MATCH) sequences.push(before);
    else if (op === JUMP) todo.push({ at: next, before });
    else if (op === SPLIT) todo.push({ at: next, before }, { at: other, before });
    else if (op !== RUNES) return undefined;
    else {
      const forms = formsOf(runes);
      if (forms === undefined) return undefined;
      for (const form of forms) todo.push({ at: next, before: [...before, ...form] });
    }
    if (sequences.length > MAX_SEQUENCES) return undefined;
  }
  return sequences.length > 0 && sequences.every((sequence) => sequence.length > 0) ? sequences : undefined;
}

/** Finds the same in a decoded text, and many times as fast as a regular expression of any kind is run there. */
export function regExpOf(sequences: readonly ByteSequence[]): RegExp {
  return new RegExp(sequences.map(sourceOf).join('|'), 'u');
}

function sourceOf(sequence: ByteSequence): string {
  let source = '';
  for (let at = 0; at < sequence.length; ) {
    const bytes = sequence[at] as readonly number[];
    // Beyond ASCII there is one byte for each place.
    const length = lengthAfter(bytes[0] as number);
    const ascii = () => bytes.map((byte) => escaped(byte)).join('');
    const character = () => Buffer.from(sequence.slice(at, at + length).flat()).toString();
    source += length === 1 ? `[${ascii()}]` : escaped(character().codePointAt(0) as number);
    at += length;
  }
  return source;
}

/** How many bytes a character has that begins with this one. */
function lengthAfter(byte: number): number {
  return 1 + (leadOf(byte)?.missing ?? 0);
}

const escaped = (rune: number): string => `\\u{${rune.toString(16)}}`;

/** What the bytes of a character may be: one that is ASCII, or those of each that is not. */
function formsOf(set: RuneSet): ByteSequence[] | undefined {
  // Bytes that are not UTF-8 look like this one, a half of a character has no bytes, and no line has an LF.
  if (has(set, REPLACEMENT) || hasHalves(set) || has(set, LF)) return undefined;
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

function hasHalves(set: RuneSet): boolean {
  for (let i = 0; i < set.length; i += 2) {
    if ((set[i] as number) <= LAST_HALF && (set[i + 1] as number) > FIRST_HALF) return true;
  }
  return false;
}

function has(set: RuneSet, rune: number): boolean {
  return (changesUpTo(set, rune) & 1) === 1;
}
