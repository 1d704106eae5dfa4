import type { DocWorld } from './doc-world.ts';

/** A command of a console block, and what the page shows as its output. */
export interface Exchange {
  readonly command: string;
  readonly shown: readonly string[];
}

/** Splits a console block: a command after `$ `, continued after `> `, then its output. */
export function exchangesOf(block: string): Exchange[] {
  const exchanges: { command: string; shown: string[] }[] = [];
  for (const line of block.trimEnd().split('\n')) {
    const last = exchanges.at(-1);
    if (line.startsWith('$ ')) exchanges.push({ command: line.slice(2), shown: [] });
    else if (last === undefined) throw new Error(`a console block begins with "$ ", not with: ${line}`);
    else if (line.startsWith('> ') && last.shown.length === 0) last.command += `\n${line.slice(2)}`;
    else last.shown.push(line);
  }
  return exchanges;
}

/** Returns what the page shows as typed after questions; undefined if there are none. */
export function answersIn({ shown }: Exchange): string[] | undefined {
  const answers = shown.flatMap((line) => /\[y\/N\] (\w+)$/.exec(line)?.[1] ?? []);
  return answers.length === 0 ? undefined : answers;
}

/** The id of a change: twelve letters and digits, at least one of each. */
const CHANGE_ID = /\bm(?=[a-z]*\d)[0-9a-z]{11}\b/g;
/** What moves the cursor of a terminal. */
const TERMINAL_CODES = /\r|\u001b\[[\d;?]*[A-Za-z]/g;
const TIME = /\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d+Z)?/g;

/**
 * Returns the first line of the docs that the real output does not agree with; undefined if there is none. A line `…`
 * stands for any lines, and `…` in a line for any text. Times are any times. An id in the docs stands for the real one that is
 * found in its place, from then on.
 */
export function firstDifference(world: DocWorld, shown: readonly string[], real: string): string | undefined {
  const lines = world.toDocs(real).replaceAll(TERMINAL_CODES, '').trimEnd().split('\n');
  let at = 0;
  for (const [index, line] of shown.entries()) {
    if (line === '…') {
      if (index === shown.length - 1) return undefined;
      const next = shown[index + 1] as string;
      while (at < lines.length && !agrees(world, next, lines[at] as string)) at += 1;
      continue;
    }
    if (!agrees(world, line, lines[at] ?? '')) return `${line}\nbut was\n${lines[at] ?? '(nothing more)'}\nin\n${real}`;
    at += 1;
  }
  return at < lines.length && lines.join('') !== ''
    ? `nothing more, but there was\n${lines.slice(at).join('\n')}`
    : undefined;
}

function agrees(world: DocWorld, shown: string, real: string): boolean {
  const ids = shown.match(CHANGE_ID) ?? [];
  const pattern = shown
    .replace(TIME, '\u0001')
    .replace(CHANGE_ID, '\u0002')
    .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replaceAll('…', '.*')
    .replaceAll('\u0001', TIME.source)
    .replaceAll('\u0002', '(m[0-9a-z]{11})');
  const match = new RegExp(`^${pattern}$`).exec(real);
  return match !== null && ids.every((id, index) => world.sameId(id, match[index + 1] as string));
}
