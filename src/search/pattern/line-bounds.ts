const LF = 0x0a;

/** Where the line around `at` begins; `floor` is the beginning of a line at or before it. */
export function lineStart(bytes: Buffer, floor: number, at: number): number {
  return at === floor ? floor : Math.max(floor, bytes.lastIndexOf(LF, at - 1) + 1);
}

/** Where the line around `at` ends: after its LF, or at `to`. */
export function lineEnd(bytes: Buffer, at: number, to: number): number {
  if (at >= to) return to;
  const lf = bytes.indexOf(LF, at);
  return lf === -1 || lf >= to ? to : lf + 1;
}
