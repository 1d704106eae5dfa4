import { isUtf8 } from 'node:buffer';
import { looksBinary } from '../encoding.ts';
import { unifiedDiff } from './diff/unified-diff.ts';
import { toBinaryString } from './text/binary-string.ts';
import type { EditOutcome } from './text/edit-outcome.ts';

/** What writing a whole file would change. */
export interface WriteDiff {
  /** The hunks of a unified diff, as `unifiedDiff` writes them; undefined if one of the contents is not text. */
  readonly diff: string | undefined;
}

/**
 * Compares the content of a file with what would be written over it, or added to its end. A missing file counts as
 * empty.
 */
export function diffWrite(
  original: Buffer = Buffer.alloc(0),
  { bytes, append }: { readonly bytes: Uint8Array; readonly append: boolean },
): EditOutcome<WriteDiff> {
  const content = append ? Buffer.concat([original, bytes]) : Buffer.from(bytes);
  const isText = [original, content].every((each) => !looksBinary(each) && isUtf8(each));
  if (!isText) return { content, result: { diff: undefined } };
  const before = toBinaryString(original);
  const after = toBinaryString(content);
  const start = append ? before.length : 0;
  const whole = { oldStart: start, oldEnd: before.length, newStart: start, newEnd: after.length };
  return { content, result: { diff: unifiedDiff(before, after, [whole]) } };
}
