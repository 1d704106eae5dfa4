import { applyPatch, type PatchResult } from './patch/apply-patch.ts';
import type { PatchOptions } from './patch/work-limits.ts';
import { applyReplacements, type ReplacementsResult, type TextReplacement } from './replacements/apply-replacements.ts';
import type { EditOutcome } from './text/edit-outcome.ts';
import { type EditPosition, type Insertion, insertLines, type Replacement, replaceOnce } from './text-edits.ts';
import { diffWrite, type WriteDiff } from './write-diff.ts';

/** The sizes, of file and edit together, that are edited in a few milliseconds. Patching costs more per character. */
const SMALL_PATCHED = 1024 * 1024;
const SMALL_EDITED = 2 * 1024 * 1024;
const SMALL_REPLACED = 256 * 1024;
const SMALL_COMPARED = 256 * 1024;

/** A change to the content of a file, as plain data that can be posted to a worker thread. */
export type Edit =
  | { readonly kind: 'patch'; readonly patch: string }
  | { readonly kind: 'replacements'; readonly replacements: readonly TextReplacement[] }
  | { readonly kind: 'write'; readonly bytes: Uint8Array; readonly append: boolean }
  | ({ readonly kind: 'replace' } & Replacement)
  | ({ readonly kind: 'insert' } & Insertion);

interface EditResults {
  patch: PatchResult;
  replacements: ReplacementsResult;
  write: WriteDiff;
  replace: EditPosition;
  insert: EditPosition;
}

/** What an edit reports besides the new content. */
export type EditResult<C extends Edit> = EditResults[C['kind']];

/**
 * Applies an edit to the content of a file; `original` is undefined if there is no file. Runs synchronously, in time
 * proportional to the sizes of the file and the edit, so large inputs belong on a worker thread. Raises what
 * `replaceOnce`, `insertLines`, `applyReplacements` or `applyPatch` raises, and `WorkLimitExceeded` only if
 * `options.workLimited` is set.
 */
export function applyEdit<C extends Edit>(original: Buffer | undefined, edit: C, options?: PatchOptions) {
  return apply(original, edit, options) as EditOutcome<EditResult<C>>;
}

function apply(
  original: Buffer | undefined,
  edit: Edit,
  options?: PatchOptions,
): EditOutcome<EditResults[Edit['kind']]> {
  if (edit.kind === 'replace') return replaceOnce(original, edit);
  if (edit.kind === 'insert') return insertLines(original, edit);
  if (edit.kind === 'replacements') return applyReplacements(original, edit.replacements);
  if (edit.kind === 'write') return diffWrite(original, edit);
  return applyPatch(original ?? Buffer.alloc(0), edit.patch, options);
}

/**
 * Reports whether an edit of a file of `size` bytes is expected to take only a few milliseconds. For a patch this is an
 * estimate: it may still take longer, which `applyEdit` detects with `workLimited`.
 */
export function isQuickEdit(size: number, edit: Edit): boolean {
  if (edit.kind === 'patch') return size + edit.patch.length <= SMALL_PATCHED;
  if (edit.kind === 'write') return size + edit.bytes.length <= SMALL_COMPARED;
  if (edit.kind === 'replacements') {
    const texts = edit.replacements.reduce((sum, { oldText, newText }) => sum + oldText.length + newText.length, 0);
    return texts + size * edit.replacements.length <= SMALL_REPLACED;
  }
  const added = edit.kind === 'insert' ? edit.text.length : edit.oldText.length + edit.newText.length;
  return size + added <= SMALL_EDITED;
}
