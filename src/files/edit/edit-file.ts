import { type CallerPath, FenceError, type Root, withLocation } from '../../fence/index.ts';
import { isFileError } from '../errors.ts';
import { versionOf } from '../version.ts';
import { ABSENT } from '../write/if-match.ts';
import { assertNoEntry, type WriteMode } from '../write/write-file.ts';
import type { PatchResult } from './patch/apply-patch.ts';
import type { ReplacementsResult, TextReplacement } from './replacements/apply-replacements.ts';
import { type RewriteOptions, rewriteFile } from './rewrite-file.ts';
import type { EditPosition, Insertion, Replacement } from './text-edits.ts';
import type { WriteDiff } from './write-diff.ts';

/** The result of a text edit. */
export interface Edited extends EditPosition {
  /** The whole file after the edit. */
  readonly content: Buffer;
}

/** The version of a file after an edit; after a dry run, of the file that is there, or `absent`. */
export interface Versioned {
  readonly version: string;
}

/**
 * Replaces a text that occurs exactly once in a file; every other byte stays. Raises `not_found`, `not_text`,
 * `text_not_found`, `text_not_unique`, `invalid_encoding` for a new text with a lone surrogate, and what `rewriteFile`
 * raises.
 */
export async function replaceText(
  root: Root,
  path: CallerPath,
  replacement: Replacement,
  options: RewriteOptions = {},
): Promise<Edited> {
  const { content, result } = await rewriteFile(root, path, { kind: 'replace', ...replacement }, options);
  return { ...result, content };
}

/**
 * Inserts text between two lines of a file; every other byte stays, and a byte order mark stays first. Raises
 * `not_found`, `not_text`, `line_out_of_range`, `invalid_encoding` for a text with a lone surrogate, and what
 * `rewriteFile` raises.
 */
export async function insertText(
  root: Root,
  path: CallerPath,
  insertion: Insertion,
  options: RewriteOptions = {},
): Promise<Edited> {
  const { content, result } = await rewriteFile(root, path, { kind: 'insert', ...insertion }, options);
  return { ...result, content };
}

/**
 * Applies a unified diff to a file, all hunks or none. A missing file counts as empty, so a diff can create it. Raises
 * `patch_failed`, `invalid_encoding`, and what `rewriteFile` raises.
 */
export async function patchFile(
  root: Root,
  path: CallerPath,
  patch: string,
  options: RewriteOptions = {},
): Promise<PatchResult & Versioned> {
  const { result, version } = await rewriteFile(root, path, { kind: 'patch', patch }, options);
  return { ...result, version };
}

/**
 * Makes replacements in a file, in order, all or none. Raises what `applyReplacements` and `rewriteFile` raise.
 */
export async function replaceTexts(
  root: Root,
  path: CallerPath,
  replacements: readonly TextReplacement[],
  options: RewriteOptions = {},
): Promise<ReplacementsResult & Versioned> {
  const { result, version } = await rewriteFile(root, path, { kind: 'replacements', replacements }, options);
  return { ...result, version };
}

/**
 * Reports what `writeFile` would change, without changing anything. The diff is undefined if one of the contents is not
 * text or the file is too large to compare. Raises what `writeFile` raises, as far as that can be known.
 */
export async function previewWrite(
  root: Root,
  path: CallerPath,
  bytes: Buffer,
  { mode, ...options }: PreviewOptions,
): Promise<WriteDiff & Versioned> {
  try {
    if (path.segments.length === 0) throw new FenceError('is_directory', {});
    if (mode === 'create_only') assertNoEntry(root, path);
    const edit = { kind: 'write', bytes, append: mode === 'append' } as const;
    const { result, version } = await rewriteFile(root, path, edit, { ...options, dryRun: true });
    return { ...result, version };
  } catch (error) {
    if (isFileError(error, 'too_large')) return { diff: undefined, version: presentVersion(root, path) };
    return withLocation(root, path, () => Promise.reject(error));
  }
}

/** Options of `previewWrite`, as those of `writeFile`. */
export interface PreviewOptions extends Pick<RewriteOptions, 'ifMatch' | 'signal'> {
  readonly mode: WriteMode;
}

function presentVersion(root: Root, path: CallerPath): string {
  using found = root.locate(path, { follow: true });
  return found.stats === undefined ? ABSENT : versionOf(found.stats);
}
