const LF = 0x0a;
/** The mean line length below which a loop over the bytes is faster than one `indexOf` call per line. */
const SHORT_LINE_BYTES = 24;
/** The number of lines from which that mean is estimated. */
const SAMPLE_LINES = 64;

/** Counts the line feeds in a buffer. */
export function countLineEnds(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) {
    count += 1;
    if (count === SAMPLE_LINES && at < SAMPLE_LINES * SHORT_LINE_BYTES) return count + countEach(bytes, at + 1);
  }
  return count;
}

/** Counts the line feeds from an offset on, byte by byte. */
function countEach(bytes: Buffer, from: number): number {
  let count = 0;
  for (let at = from; at < bytes.length; at += 1) if (bytes[at] === LF) count += 1;
  return count;
}

/** Returns the offset of the `n`th line feed, counted from 1, or -1 if there are fewer. */
export function nthLineEnd(bytes: Buffer, n: number): number {
  let at = -1;
  for (let left = n; left > 0; left -= 1) {
    at = bytes.indexOf(LF, at + 1);
    if (at === -1) return -1;
  }
  return at;
}

/** Reports whether a buffer ends with a line feed. An empty buffer counts as such: it has no unfinished line. */
export function endsWithLine(bytes: Buffer): boolean {
  return bytes.length === 0 || bytes[bytes.length - 1] === LF;
}
