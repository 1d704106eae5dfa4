import { createHash } from 'node:crypto';
import { diffLines, type LineChange } from '../files/edit/diff/diff-lines.ts';

/** How many unchanged lines are shown around changed ones. */
const CONTEXT_LINES = 3;

/** One line of a hunk: unchanged, removed or added. */
export interface HunkLine {
  readonly sign: ' ' | '-' | '+';
  /** As `splitLines` returns it. */
  readonly line: string;
}

/** Changes of a text that are close to each other, with some unchanged lines around them. */
export interface Hunk {
  /** From 1, in the order of the text. */
  readonly number: number;
  /** The lines that it shows of both texts. */
  readonly range: LineChange;
  readonly changes: readonly LineChange[];
  readonly lines: readonly HunkLine[];
}

/** Two texts that are compared, as lines of `splitLines`. */
export interface TextPair {
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** Returns the hunks of the diff between two texts. */
export function hunksOf(texts: TextPair): Hunk[] {
  const groups: LineChange[][] = [];
  for (const change of diffLines(texts.before, texts.after)) {
    const last = groups.at(-1)?.at(-1);
    const isNear = last !== undefined && change.oldStart - last.oldEnd <= 2 * CONTEXT_LINES;
    if (isNear) groups.at(-1)?.push(change);
    else groups.push([change]);
  }
  return groups.map((changes, index) => hunkOf(index + 1, changes, texts));
}

function hunkOf(number: number, changes: readonly LineChange[], { before, after }: TextPair): Hunk {
  const [first, last] = [changes[0], changes.at(-1)] as [LineChange, LineChange];
  const above = Math.min(CONTEXT_LINES, first.oldStart);
  const below = Math.min(CONTEXT_LINES, before.length - last.oldEnd);
  const lines: HunkLine[] = [];
  const add = (sign: HunkLine['sign'], shown: readonly string[]): void => {
    for (const line of shown) lines.push({ sign, line });
  };
  let at = first.oldStart - above;
  for (const { oldStart, oldEnd, newStart, newEnd } of changes) {
    add(' ', before.slice(at, oldStart));
    add('-', before.slice(oldStart, oldEnd));
    add('+', after.slice(newStart, newEnd));
    at = oldEnd;
  }
  add(' ', before.slice(at, at + below));
  const range = {
    oldStart: first.oldStart - above,
    oldEnd: last.oldEnd + below,
    newStart: first.newStart - above,
    newEnd: last.newEnd + below,
  };
  return { number, changes, lines, range };
}

/** Returns the text before with the changes of some hunks, and of no others: what is left when those are accepted. */
export function withHunks({ before, after }: TextPair, hunks: readonly Hunk[]): string[] {
  const parts: (readonly string[])[] = [];
  let at = 0;
  for (const { oldStart, oldEnd, newStart, newEnd } of hunks.flatMap(({ changes }) => changes)) {
    parts.push(before.slice(at, oldStart), after.slice(newStart, newEnd));
    at = oldEnd;
  }
  return [...parts, before.slice(at)].flat();
}

/** Returns the text after without the changes of some hunks. */
export function withoutHunks({ before, after }: TextPair, hunks: readonly Hunk[]): string[] {
  const parts: (readonly string[])[] = [];
  let at = 0;
  for (const { oldStart, oldEnd, newStart, newEnd } of hunks.flatMap(({ changes }) => changes)) {
    parts.push(after.slice(at, newStart), before.slice(oldStart, oldEnd));
    at = newEnd;
  }
  return [...parts, after.slice(at)].flat();
}

/** Returns the line above a hunk in a unified diff. */
export function hunkHeader({ range: { oldStart, oldEnd, newStart, newEnd } }: Hunk): string {
  const side = (start: number, end: number): string => {
    const lines = end - start;
    return `${lines === 0 ? start : start + 1}${lines === 1 ? '' : `,${lines}`}`;
  };
  return `@@ -${side(oldStart, oldEnd)} +${side(newStart, newEnd)} @@`;
}

/** Returns what identifies a hunk: the lines that it shows, wherever they stand. */
export function hunkHash({ lines }: Hunk): string {
  const hash = createHash('sha256');
  for (const { sign, line } of lines) hash.update(sign + line, 'latin1');
  return hash.digest('base64url');
}

/**
 * Returns two texts with some hunks accepted: they are in the text before, too, and no longer part of the diff. They are
 * given by their hashes, in the order in which they were accepted. One that is not found has changed since, and is shown
 * again.
 */
export function acceptHunks(texts: TextPair, hashes: readonly string[]): TextPair {
  let { before } = texts;
  for (const hash of hashes) {
    const pair = { before, after: texts.after };
    const accepted = hunksOf(pair).find((hunk) => hunkHash(hunk) === hash);
    if (accepted !== undefined) before = withHunks(pair, [accepted]);
  }
  return { before, after: texts.after };
}
