import { textToBytes } from '../encoding.ts';
import { FileError } from '../errors.ts';
import { assertText } from './assert-text.ts';
import type { EditOutcome, EditPosition } from './edit.ts';
import { findOccurrences } from './find-occurrences.ts';

export interface Replacement {
  /** Has to be in the file exactly once. */
  readonly oldText: string;
  /** Taken as it is: no character in it means anything else. */
  readonly newText: string;
}

/** Replaces a text that a file holds exactly once; every other byte stays. */
export function replaceOnce(
  original: Buffer | undefined,
  { oldText, newText }: Replacement,
): EditOutcome<EditPosition> {
  const added = textToBytes(newText, 'newText');
  assertText(original);
  // A lone surrogate would become U+FFFD, which may well be in the file.
  if (!oldText.isWellFormed()) throw new FileError('text_not_found', {});
  const old = Buffer.from(oldText, 'utf8');
  const { count, first, lines } = findOccurrences(original, old);
  if (count === 0) throw new FileError('text_not_found', {});
  if (count > 1) throw new FileError('text_not_unique', { count, lines });
  const content = Buffer.concat([original.subarray(0, first), added, original.subarray(first + old.length)]);
  return { content, result: { line: lines[0] ?? 1 } };
}
