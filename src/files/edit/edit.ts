import { type Insertion, insertLines } from './insert-lines.ts';
import { applyPatch } from './patch/apply-patch.ts';
import type { PatchOptions } from './patch/work-limits.ts';
import { type Replacement, replaceOnce } from './replace-once.ts';

/** Characters that a few milliseconds suffice for; what a patch is made of takes more of them than a text that is replaced. */
const SMALL_PATCHED = 1024 * 1024;
const SMALL_EDITED = 2 * 1024 * 1024;

/** What is to become of a file's content, said so that it can be sent to another thread. */
export type Edit =
  | { readonly kind: 'patch'; readonly patch: string }
  | ({ readonly kind: 'replace' } & Replacement)
  | ({ readonly kind: 'insert' } & Insertion);

/** The new content, and what there is to say about it. */
export interface EditOutcome<R> {
  readonly content: Buffer;
  readonly result: R;
}

export interface EditPosition {
  /** The line, from 1, on which the new text starts. */
  readonly line: number;
}

interface EditResults {
  patch: { readonly hunksApplied: number };
  replace: EditPosition;
  insert: EditPosition;
}

export type EditResult<C extends Edit> = EditResults[C['kind']];

/**
 * Makes the new content of the old (undefined if there is no file). Takes time that grows with both, so what is large is
 * for another thread. Raises why it cannot be done, and `TimeLimitExceeded` if asked to.
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
  const { content, hunksApplied } = applyPatch(original ?? Buffer.alloc(0), edit.patch, options);
  return { content, result: { hunksApplied } };
}

/** Whether that may be made in some milliseconds; if not, a patch may still turn out as `TimeLimitExceeded`. */
export function isQuickEdit(size: number, edit: Edit): boolean {
  if (edit.kind === 'patch') return size + edit.patch.length <= SMALL_PATCHED;
  const added = edit.kind === 'insert' ? edit.text.length : edit.oldText.length + edit.newText.length;
  return size + added <= SMALL_EDITED;
}
