import {
  type ContentDiff,
  contentDiff,
  type Hunk,
  type HunkLine,
  hunkHeader,
  kindOf,
  lineText,
} from '../../review/index.ts';
import { printable } from '../../runtime/printable.ts';
import type { PastEntry, PathDiff } from '../../undo/index.ts';
import { formatSize } from '../../wire/format-size.ts';
import type { Style } from '../terminal/colours.ts';
import { type Output, safeLine } from '../terminal/output.ts';

const LINE_STYLES: Readonly<Record<HunkLine['sign'], Style | undefined>> = { '+': 'green', '-': 'red', ' ': undefined };
const WHY = { binary: 'binary files differ', large: 'too large to compare', lost: 'the content is no longer kept' };

/** Prints what happened to one entry, as a unified diff with the headers of Git, which `git apply` and `patch` read. */
export function showDiff(output: Output, diff: PathDiff, content: ContentDiff = contentDiff(diff)): void {
  if ((diff.after ?? diff.before)?.type === 'directory') {
    // Git knows no folders, and reads over this.
    output.line(output.style('bold', describeFolder(diff)));
    return;
  }
  for (const line of headerOf(diff)) output.line(output.style('bold', line));
  if (content.shown === 'sizes') {
    const sizes = [diff.before, diff.after].map((entry) => (entry ? formatSize(entry.size) : 'nothing')).join(' → ');
    output.line(`${WHY[content.why]}: ${sizes}`);
  }
  if (content.shown !== 'hunks') return;
  output.line(output.style('bold', `--- ${diff.before ? quoted('a', diff.movedFrom ?? diff.path) : '/dev/null'}`));
  output.line(output.style('bold', `+++ ${diff.after ? quoted('b', diff.path) : '/dev/null'}`));
  for (const hunk of content.hunks) showHunk(output, hunk, content.hunks.length > 1);
}

/** Prints a hunk, with its number if it has one to tell it from others. */
export function showHunk(output: Output, hunk: Hunk, isNumbered: boolean): void {
  output.line(output.style('cyan', hunkHeader(hunk) + (isNumbered ? ` hunk ${hunk.number}` : '')));
  for (const { sign, line } of hunk.lines) {
    const style = LINE_STYLES[sign];
    if (output.isTerminal) {
      const text = sign + safeLine(lineText(line));
      output.line(style === undefined ? text : output.style(style, text));
    } else output.bytes(Buffer.from(`${sign}${line}${line.endsWith('\n') ? '' : '\n'}`, 'latin1'));
    if (!line.endsWith('\n')) output.line('\\ No newline at end of file');
  }
}

/** What `showDiff` prints, for programs. */
export function diffJson(root: string, diff: PathDiff, content: ContentDiff = contentDiff(diff)): object {
  return {
    root,
    path: diff.path,
    change: kindOf(diff),
    ...(diff.movedFrom !== undefined && { moved_from: diff.movedFrom }),
    before: entryJson(diff.before),
    after: entryJson(diff.after),
    ...(content.shown === 'sizes' && { content: content.why }),
    ...(content.shown === 'hunks' && {
      hunks: content.hunks.map((hunk) => ({
        number: hunk.number,
        header: hunkHeader(hunk),
        lines: hunk.lines.map(({ sign, line }) => sign + lineText(line)),
      })),
    }),
  };
}

function entryJson(entry: PastEntry | undefined): object | null {
  if (entry === undefined) return null;
  const { type, size, mode, mtimeMs } = entry;
  return { type, size, mode: mode.toString(8).padStart(4, '0'), modified: new Date(mtimeMs).toISOString() };
}

function headerOf(diff: PathDiff): string[] {
  const { path, movedFrom, before, after } = diff;
  const kind = kindOf(diff);
  const lines = [`diff --git ${quoted('a', movedFrom ?? path)} ${quoted('b', path)}`];
  if (before !== undefined && after !== undefined && before.mode !== after.mode)
    lines.push(`old mode ${gitMode(before)}`, `new mode ${gitMode(after)}`);
  if (kind === 'removed' && before) lines.push(`deleted file mode ${gitMode(before)}`);
  if (kind === 'added' && after) lines.push(`new file mode ${gitMode(after)}`);
  if (kind === 'moved') lines.push(`rename from ${printable(movedFrom ?? '')}`, `rename to ${printable(path)}`);
  return lines;
}

function describeFolder(diff: PathDiff): string {
  const from = diff.movedFrom === undefined ? '' : `${printable(diff.movedFrom)}/ to `;
  return `${kindOf(diff)} folder ${from}${printable(diff.path)}/`;
}

const GIT_TYPES = { file: '100', directory: '040', symlink: '120', other: '000' } as const;

function gitMode({ type, mode }: PastEntry): string {
  return GIT_TYPES[type] + (mode & 0o777).toString(8).padStart(3, '0');
}

function quoted(side: 'a' | 'b', path: string): string {
  return printable(`${side}/${path}`);
}
