import type { CallerPath, Root } from '../../fence/index.ts';
import type { PatchResult } from './patch/apply-patch.ts';
import { type RewriteOptions, type Rewritten, rewriteFile } from './rewrite-file.ts';
import type { EditPosition, Insertion, Replacement } from './text-edits.ts';

/** The result of a text edit. */
export interface Edited extends EditPosition {
  /** The whole file after the edit. */
  readonly content: Buffer;
}

/**
 * Replaces a text that occurs exactly once in a file; every other byte stays. Raises `not_found`, `not_text`,
 * `text_not_found`, `text_not_unique`, `invalid_encoding` for a new text with a lone surrogate, and what `rewriteFile` raises.
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
 * Inserts text between two lines of a file; every other byte stays, and a byte order mark stays first. Raises `not_found`,
 * `not_text`, `line_out_of_range`, `invalid_encoding` for a text with a lone surrogate, and what `rewriteFile` raises.
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
): Promise<PatchResult & Pick<Rewritten<unknown>, 'version'>> {
  const { result, version } = await rewriteFile(root, path, { kind: 'patch', patch }, options);
  return { ...result, version };
}
