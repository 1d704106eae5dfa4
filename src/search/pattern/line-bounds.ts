const LF = 0x0a;

/** Returns the start of the line around `at`. `floor` must be the start of a line at or before it. */
export function lineStart(bytes: Buffer, floor: number, at: number): number {
  return at === floor ? floor : Math.max(floor, bytes.lastIndexOf(LF, at - 1) + 1);
}

/** Returns the start of the line after the one around `at`, but at most `to`. */
export function nextLineStart(bytes: Buffer, at: number, to: number): number {
  if (at >= to) return to;
  const lf = bytes.indexOf(LF, at);
  return lf === -1 || lf >= to ? to : lf + 1;
}
