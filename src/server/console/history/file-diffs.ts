import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Root } from '../../../fence/index.ts';
import { type ContentDiff, type Hunk, hunkHash, hunkHeader, kindOf, lineText } from '../../../review/index.ts';
import type { PathDiff } from '../../../undo/index.ts';
import type { FileDiff, Hunk as ShownHunk } from '../model/api-types.ts';
import { isDenied } from './served-history.ts';

/** How much is shown at once. */
const MAX_FILES = 300;
const MAX_LINES = 20_000;
/** The lines of larger files are not compared here: other calls would have to wait. */
const MAX_BYTES = 256 * 1024;
const MAX_LINE_LENGTH = 2_000;

/** An entry that differs, and how its content does. */
export interface DiffEntry {
  readonly diff: PathDiff;
  readonly content: () => ContentDiff;
  /** The folder that it belongs to. */
  readonly partOf?: string | undefined;
}

/** What differs, as far as it is shown. */
export interface ShownDiffs {
  readonly files: readonly FileDiff[];
  readonly truncated: boolean;
}

/** Returns what differs, without what the rules of the root hide. Other calls get their turns between files. */
export async function fileDiffs(root: Root, entries: readonly DiffEntry[]): Promise<ShownDiffs> {
  const files: FileDiff[] = [];
  let lines = 0;
  for (const entry of entries) {
    const { path, movedFrom } = entry.diff;
    if ([path, movedFrom].some((each) => each !== undefined && isDenied(root, each))) continue;
    if (files.length >= MAX_FILES || lines >= MAX_LINES) return { files, truncated: true };
    const file = fileDiff(entry, MAX_LINES - lines);
    lines += file.hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
    files.push(file);
    await nextTurn();
  }
  return { files, truncated: false };
}

function fileDiff({ diff, content, partOf }: DiffEntry, maxLines: number): FileDiff {
  const { path, movedFrom, before, after } = diff;
  const shown = isLarge(diff) ? ({ shown: 'sizes', why: 'large' } as const) : content();
  const hunks = shown.shown === 'hunks' ? shown.hunks : [];
  const fits = hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0) <= maxLines;
  return {
    path: path.toWellFormed(),
    from: movedFrom?.toWellFormed() ?? null,
    status: kindOf(diff),
    kind: KINDS[(after ?? before)?.type ?? 'other'],
    part_of: partOf?.toWellFormed() ?? null,
    hidden: shown.shown === 'sizes' ? shown.why : fits ? null : 'large',
    divisible: before?.type === 'file' && after?.type === 'file' && hunks.length > 1,
    hunks: fits ? hunks.map(shownHunk) : [],
  };
}

const KINDS = { file: 'file', directory: 'folder', symlink: 'link', other: 'file' } as const;

function isLarge({ before, after }: PathDiff): boolean {
  return [before, after].some((entry) => entry?.type === 'file' && entry.size > MAX_BYTES);
}

function shownHunk(hunk: Hunk): ShownHunk {
  const lines = hunk.lines.flatMap(({ sign, line }) => {
    const text = sign + lineText(line).slice(0, MAX_LINE_LENGTH);
    return line.endsWith('\n') ? [text] : [text, '\\ No newline at end of file'];
  });
  return { id: hunkHash(hunk), header: hunkHeader(hunk), lines };
}
