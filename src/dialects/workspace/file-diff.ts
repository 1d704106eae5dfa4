/** Returns a unified diff with the names of the file above its hunks; empty if there are no hunks. */
export function fileDiff(path: string, hunks: string): string {
  return hunks === '' ? '' : `--- ${named('a', path)}\n+++ ${named('b', path)}\n${hunks}`;
}

/** Returns the hunks of a diff without the names above them. */
export function hunksOf(diff: string): string {
  return diff.replace(/^--- .*\n\+\+\+ .*\n/, '');
}

/** Quotes a name with control characters, as git does. */
function named(side: 'a' | 'b', path: string): string {
  const name = `${side}/${path.replace(/^\/+/, '')}`;
  return /[\u0000-\u001f\u007f]/.test(name) ? JSON.stringify(name) : name;
}
