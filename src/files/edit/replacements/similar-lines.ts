import { diffLines } from '../diff/diff-lines.ts';
import type { LooseText } from './loose-text.ts';

/** Lines of a file, indexed from 0, that are most like the lines of a text. */
export interface SimilarLines {
  readonly start: number;
  readonly end: number;
}

/** The lines of a text whose likes are looked for in the file, and how many places of each are considered. */
const MAX_ANCHORS = 4;
const MAX_PLACES = 8;
/** The most lines of the text, and characters of a line, that are compared. */
const MAX_COMPARED_LINES = 60;
const MAX_COMPARED_CHARS = 400;
/** How much of a line, and of a passage, must be alike to count. */
const LIKE_LINE = 0.35;
const LIKE_PASSAGE = 0.4;
/** By how many lines a passage may be longer or shorter than the text at each end. */
const SLACK = 3;
/**
 * How much of short lines must be alike at their ends, and how many, of how many characters together, are compared so.
 */
const LIKE_AFFIXES = 0.5;
const MAX_AFFIX_LINES = 8;
const MAX_AFFIX_CHARS = 80;
const TABLE_SIZE = 1 << 16;

/**
 * Finds the lines of a file that are most like those of a text, by the trigrams that they share (Dice's coefficient,
 * https://doi.org/10.2307/1932409); undefined if nothing is alike. Takes time linear in the size of the file.
 */
export function findSimilarLines(file: LooseText, wanted: LooseText): SimilarLines | undefined {
  const lines = linesOf(wanted, 0, Math.min(wanted.lines.length - 1, MAX_COMPARED_LINES));
  const anchors = [...lines.keys()]
    .filter((index) => (lines[index]?.length ?? 0) >= 3)
    .sort((a, b) => (lines[b]?.length ?? 0) - (lines[a]?.length ?? 0))
    .slice(0, MAX_ANCHORS);
  const places = likeAnchors(
    file,
    anchors.map((index) => lines[index] ?? ''),
  );
  const starts = new Set(places.map(({ anchor, line }) => Math.max(line - (anchors[anchor] ?? 0), 0)));
  let best = { start: 0, score: LIKE_PASSAGE };
  for (const start of starts) {
    const score = passageScore(linesOf(file, start, start + lines.length), lines);
    if (score > best.score) best = { start, score };
  }
  if (best.score === LIKE_PASSAGE) best = likeAffixes(file, lines) ?? best;
  return best.score === LIKE_PASSAGE ? undefined : fitted(file, lines, best.start);
}

/**
 * Finds the passage whose lines begin and end most like a few short ones, which may have no trigram in common with
 * them: "x=1" and "x=2". Undefined if no passage does, or the lines are too many or too long for a comparison with
 * every line of the file.
 */
function likeAffixes(file: LooseText, lines: readonly string[]): { start: number; score: number } | undefined {
  const length = lines.reduce((sum, line) => sum + line.length, 0);
  if (length === 0 || length > MAX_AFFIX_CHARS || lines.length > MAX_AFFIX_LINES) return undefined;
  let best = { start: 0, score: LIKE_AFFIXES };
  for (let start = 0; start < file.lines.length - 1; start++) {
    const passage = linesOf(file, start, start + lines.length);
    const common = lines.reduce((sum, line, index) => sum + line.length * affixes(line, passage[index] ?? ''), 0);
    if (common / length > best.score) best = { start, score: common / length };
  }
  return best.score === LIKE_AFFIXES ? undefined : best;
}

/** Returns how much of the longer of two lines is their common beginning and end. */
function affixes(line: string, other: string): number {
  const shorter = Math.min(line.length, other.length);
  let from = 0;
  while (from < shorter && line[from] === other[from]) from++;
  let end = 0;
  while (end < shorter - from && line.at(-1 - end) === other.at(-1 - end)) end++;
  return (from + end) / Math.max(line.length, other.length, 1);
}

/** Returns lines of a text, reduced. */
function linesOf({ loose, lines }: LooseText, from: number, to: number): string[] {
  const found: string[] = [];
  for (let index = from; index < Math.min(to, lines.length - 1); index++) {
    const start = lines[index] ?? 0;
    found.push(loose.slice(start, Math.min(lines[index + 1] ?? 0, start + MAX_COMPARED_CHARS)));
  }
  return found;
}

/** Returns the lines of a file that are most like one of a few others. */
function likeAnchors({ loose, lines }: LooseText, anchors: readonly string[]): { anchor: number; line: number }[] {
  const table = new Uint8Array(TABLE_SIZE);
  for (const [anchor, text] of anchors.entries()) {
    for (let at = 0; at + 3 <= text.length; at++) {
      const slot = trigram(text, at);
      table[slot] = (table[slot] ?? 0) | (1 << anchor);
    }
  }
  const wanted = anchors.map((_, anchor) => table.reduce((sum, mask) => sum + ((mask >> anchor) & 1), 0));
  const best = anchors.map((): { line: number; score: number }[] => []);
  // The line, from 1, in which a trigram was last seen: each counts once a line.
  const seen = new Uint32Array(TABLE_SIZE);
  const hits = new Uint32Array(anchors.length);
  for (let line = 0; line < lines.length - 1; line++) {
    const [start, end] = [lines[line] ?? 0, lines[line + 1] ?? 0];
    hits.fill(0);
    for (let at = start; at + 3 <= end; at++) {
      const slot = trigram(loose, at);
      const mask = table[slot] ?? 0;
      if (mask === 0 || seen[slot] === line + 1) continue;
      seen[slot] = line + 1;
      for (let anchor = 0; anchor < hits.length; anchor++) hits[anchor] = (hits[anchor] ?? 0) + ((mask >> anchor) & 1);
    }
    for (const [anchor, all] of wanted.entries()) {
      const common = hits[anchor] ?? 0;
      // A text may be only a part of its line, so what is contained counts more than what is equal.
      const score = (0.7 * common) / all + (0.6 * common) / (all + Math.max(end - start - 2, 1));
      if (score >= LIKE_LINE) keepBest(best[anchor] ?? [], { line, score });
    }
  }
  return best.flatMap((list, anchor) => list.map(({ line }) => ({ anchor, line })));
}

function keepBest(list: { line: number; score: number }[], candidate: { line: number; score: number }): void {
  const last = list.at(-1);
  if (list.length === MAX_PLACES && last !== undefined && last.score >= candidate.score) return;
  const at = list.findIndex(({ score }) => score < candidate.score);
  list.splice(at === -1 ? list.length : at, 0, candidate);
  if (list.length > MAX_PLACES) list.pop();
}

function trigram(text: string, at: number): number {
  return (text.charCodeAt(at) * 961 + text.charCodeAt(at + 1) * 31 + text.charCodeAt(at + 2)) & (TABLE_SIZE - 1);
}

/** Returns how much the lines of a passage are like others, from 0 to 1. */
function passageScore(passage: readonly string[], wanted: readonly string[]): number {
  let sum = 0;
  let weights = 0;
  for (const [index, line] of wanted.entries()) {
    weights += line.length;
    sum += line.length * likeness(line, passage[index] ?? '');
  }
  return weights === 0 ? 0 : sum / weights;
}

/** Returns the share of the trigrams of a line that another has, or 1 for equal lines. */
function likeness(line: string, other: string): number {
  if (line === other) return 1;
  if (line.length < 3) return 0;
  const found = new Set<number>();
  for (let at = 0; at + 3 <= other.length; at++) found.add(trigram(other, at));
  let common = 0;
  for (let at = 0; at + 3 <= line.length; at++) common += found.has(trigram(line, at)) ? 1 : 0;
  return common / (line.length - 2);
}

/**
 * Lengthens or shortens a passage by a few lines at both ends, so that it has the most lines in common with the text.
 */
function fitted(file: LooseText, wanted: readonly string[], start: number): SimilarLines {
  let best = { start, end: start + wanted.length, score: Number.NEGATIVE_INFINITY };
  const slack = wanted.length === 1 ? 0 : SLACK;
  for (let from = Math.max(start - slack, 0); from <= start + slack; from++) {
    for (let end = start + wanted.length - slack; end <= start + wanted.length + slack; end++) {
      if (end <= from || end > file.lines.length - 1) continue;
      const passage = linesOf(file, from, end);
      const changes = diffLines(passage, wanted);
      const differing = changes.reduce((sum, { oldStart, oldEnd, newStart, newEnd }) => {
        const [only, other] = [passage.slice(oldStart, oldEnd), wanted.slice(newStart, newEnd)];
        const paired = other.slice(0, only.length);
        // A line that is only a little changed costs less than one that is missing on one side.
        const costs = paired.map((line, index) => 2 * (1 - likeness(line, only[index] ?? '')));
        return costs.reduce((all, cost) => all + cost, sum) + Math.abs(only.length - other.length);
      }, 0);
      const score = -differing - 0.01 * Math.abs(from - start);
      if (score > best.score) best = { start: from, end, score };
    }
  }
  return best;
}
