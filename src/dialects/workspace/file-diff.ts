import { printable } from '../../runtime/printable.ts';

/** Returns a unified diff with the names of the file above its hunks; empty if there are no hunks. */
export function fileDiff(path: string, hunks: string): string {
  return hunks === '' ? '' : `--- ${named('a', path)}\n+++ ${named('b', path)}\n${hunks}`;
}

/** Returns the hunks of a diff without the names above them. */
export function hunksOf(diff: string): string {
  return diff.replace(/^--- .*\n\+\+\+ .*\n/, '');
}

/** Quotes a name with characters that cannot be shown, as git does. */
function named(side: 'a' | 'b', path: string): string {
  return printable(`${side}/${path.replace(/^\/+/, '')}`);
}
