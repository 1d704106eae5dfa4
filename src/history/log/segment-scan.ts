import { decodeLine } from './log-line.ts';
import { isLogRecord } from './record-check.ts';
import { decodeRecords } from './segment-folder.ts';
import { isAbout, keepsFolder, type LogRecord, type Step, stepKey } from './step.ts';

/** With more steps than this about a path, decoding all lines is faster than looking for the marks of each. */
const MAX_SEARCHED = 32;

/**
 * Reads the steps about a path from the bytes of a segment, and their marks, oldest first. There may be other records
 * among them. Looks for the path in the bytes, which is many times faster than decoding every line.
 */
export function recordsAbout(bytes: Buffer, path: string): LogRecord[] {
  const starts = new Set<number>();
  for (const field of ['path', 'to']) {
    const beginning = `"${field}":${JSON.stringify(path).slice(0, -1)}`;
    for (const at of occurrences(bytes, beginning)) starts.add(lineStart(bytes, at));
  }
  if (starts.size > MAX_SEARCHED) return decodeRecords(bytes);
  const found: LogRecord[] = [];
  for (const start of [...starts].sort((a, b) => a - b)) {
    const step = decodeAt(bytes, start);
    if (step !== undefined && 'kind' in step && isAbout(step, path)) found.push(step, ...marksOf(bytes, step, start));
  }
  return found;
}

/** Finds what a segment says about a step, by its bytes from a position on. */
export function marksOf(bytes: Buffer, step: Step, from = 0): LogRecord[] {
  const marks: LogRecord[] = [];
  for (const at of occurrences(bytes, `":"${stepKey(step)}"`, from)) {
    const record = decodeAt(bytes, lineStart(bytes, at));
    if (record === undefined || 'kind' in record) continue;
    marks.push(record);
    if (!keepsFolder(step)) break;
  }
  return marks;
}

function* occurrences(bytes: Buffer, text: string, from = 0): Generator<number, void, undefined> {
  const wanted = Buffer.from(text);
  for (let at = bytes.indexOf(wanted, from); at >= 0; at = bytes.indexOf(wanted, at + 1)) yield at;
}

function lineStart(bytes: Buffer, at: number): number {
  return bytes.lastIndexOf('\n', at) + 1;
}

function decodeAt(bytes: Buffer, start: number): LogRecord | undefined {
  const end = bytes.indexOf('\n', start);
  return decodeLine(bytes.toString('utf8', start, end < 0 ? bytes.length : end), isLogRecord);
}
