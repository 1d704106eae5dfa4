import { createHash } from 'node:crypto';
import { type Hunk, hunksOf, type TextPair, withHunks } from './hunks.ts';

/** Returns what identifies a hunk: the lines that it shows, wherever they stand. */
export function hunkHash({ lines }: Hunk): string {
  const hash = createHash('sha256');
  for (const { sign, line } of lines) hash.update(sign + line, 'latin1');
  return hash.digest('base64url');
}

/**
 * Returns two texts with some hunks accepted: they are in the text before, too, and no longer part of the diff. They are
 * given by their hashes, in the order in which they were accepted. One that is not found has changed since, and is shown
 * again.
 */
export function acceptHunks(texts: TextPair, hashes: readonly string[]): TextPair {
  let { before } = texts;
  for (const hash of hashes) {
    const pair = { before, after: texts.after };
    const accepted = hunksOf(pair).find((hunk) => hunkHash(hunk) === hash);
    if (accepted !== undefined) before = withHunks(pair, [accepted]);
  }
  return { before, after: texts.after };
}
