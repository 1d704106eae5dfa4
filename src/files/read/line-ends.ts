const LF = 0x0a;
/** Looking at each byte is faster than searching for the next line end where lines are shorter than this. */
const SHORT_LINE = 24;
const SAMPLE = 64;

/** How many lines end in some bytes. */
export function countLineEnds(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) {
    count += 1;
    if (count === SAMPLE && at < SAMPLE * SHORT_LINE) return count + countEach(bytes, at + 1);
  }
  return count;
}

function countEach(bytes: Buffer, from: number): number {
  let count = 0;
  for (let at = from; at < bytes.length; at += 1) if (bytes[at] === LF) count += 1;
  return count;
}

/** Where the `n`th line in some bytes ends, counted from 1; -1 if fewer do. */
export function nthLineEnd(bytes: Buffer, n: number): number {
  let at = -1;
  for (let left = n; left > 0; left -= 1) {
    at = bytes.indexOf(LF, at + 1);
    if (at === -1) return -1;
  }
  return at;
}

/** Whether the last line in some bytes ends there; nothing is not begun either. */
export function endsWithLine(bytes: Buffer): boolean {
  return bytes.length === 0 || bytes[bytes.length - 1] === LF;
}
