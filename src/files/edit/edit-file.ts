import type { CallerPath, Root } from '../../fence/index.ts';
import type { EditPosition } from './edit.ts';
import type { Insertion } from './insert-lines.ts';
import type { Replacement } from './replace-once.ts';
import { type RewriteOptions, rewriteFile } from './rewrite-file.ts';

export interface Edited extends EditPosition {
  /** The whole file after the edit. */
  readonly content: Buffer;
}

/**
 * Replaces a text that a file holds exactly once; every other byte stays. Raises `not_found`, `not_text`,
 * `text_not_found`, `text_not_unique`, and `invalid_encoding` for a new text that UTF-8 cannot hold.
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
 * Puts text between two lines of a file; a byte order mark stays in front, every other byte stays. Raises `not_found`,
 * `not_text`, `line_out_of_range`, and `invalid_encoding` for a text that UTF-8 cannot hold.
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
 * Applies a unified diff to a file, all of it or nothing; a missing file counts as empty. Raises
 * `patch_failed`, `invalid_encoding`, and what `rewriteFile` raises.
 */
export async function patchFile(
  root: Root,
  path: CallerPath,
  patch: string,
  options: RewriteOptions = {},
): Promise<{ hunksApplied: number }> {
  const { result } = await rewriteFile(root, path, { kind: 'patch', patch }, options);
  return result;
}
