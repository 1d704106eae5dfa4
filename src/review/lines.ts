/**
 * Splits bytes into lines, each with its line end. A line has one character for each byte, so that nothing is lost
 * where the bytes are not UTF-8: see `joinLines` and `lineText`.
 */
export function splitLines(bytes: Buffer): string[] {
  const lines = bytes.toString('latin1').split('\n');
  const last = lines.pop();
  const whole = lines.map((line) => `${line}\n`);
  return last ? [...whole, last] : whole;
}

/** Returns the bytes that `splitLines` split. */
export function joinLines(lines: readonly string[]): Buffer {
  return Buffer.from(lines.join(''), 'latin1');
}

/** Returns a line of `splitLines` as text to read, without its line end. */
export function lineText(line: string): string {
  return Buffer.from(line.endsWith('\n') ? line.slice(0, -1) : line, 'latin1').toString('utf8');
}
