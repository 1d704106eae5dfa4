import type { LogRecord } from './step.ts';

const HASH_LENGTH = 8;
const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/**
 * Writes a record as a line of the log: a line break, a checksum, and JSON. The line break comes first, so that a line
 * that a killed process left unfinished spoils no other.
 */
export function encodeLine(record: LogRecord): string {
  const json = JSON.stringify(record);
  return `\n${checksum(json)} ${json}`;
}

/** Reads a line without its line break. Undefined if it is empty or was not written to its end. */
export function decodeLine(line: string): LogRecord | undefined {
  const json = line.slice(HASH_LENGTH + 1);
  if (json === '' || line.slice(0, HASH_LENGTH) !== checksum(json)) return undefined;
  return JSON.parse(json) as LogRecord;
}

/** FNV-1a (https://datatracker.ietf.org/doc/html/rfc9923) of the characters of a text, in hexadecimal. */
function checksum(text: string): string {
  let hash = FNV_OFFSET;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), FNV_PRIME);
  return (hash >>> 0).toString(16).padStart(HASH_LENGTH, '0');
}
