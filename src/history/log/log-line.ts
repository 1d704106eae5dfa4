const HASH_LENGTH = 8;
const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
/** The longest line that is read. This program writes none that comes near it. */
const MAX_LINE_LENGTH = 1024 * 1024;

/**
 * Writes a record as a line of the log: a line break, a checksum, and JSON. The line break comes first, so that a line
 * that a killed process left unfinished spoils no other.
 */
export function encodeLine(record: object): string {
  const json = JSON.stringify(record);
  return `\n${hex(fnv1a(json))} ${json}`;
}

/**
 * Reads a line without its line break. Undefined if it is empty, was not written to its end, or is not a record that
 * `check` knows.
 */
export function decodeLine<T>(line: string, check: (value: unknown) => value is T): T | undefined {
  if (line.length > MAX_LINE_LENGTH) return undefined;
  const json = line.slice(HASH_LENGTH + 1);
  if (json === '' || line.slice(0, HASH_LENGTH) !== hex(fnv1a(json))) return undefined;
  try {
    const value: unknown = JSON.parse(json);
    return check(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** FNV-1a (https://datatracker.ietf.org/doc/html/rfc9923) of the characters of a text, going on from another hash. */
export function fnv1a(text: string, hash = FNV_OFFSET): number {
  let mixed = hash;
  for (let at = 0; at < text.length; at += 1) mixed = Math.imul(mixed ^ text.charCodeAt(at), FNV_PRIME);
  return mixed >>> 0;
}

function hex(hash: number): string {
  return hash.toString(16).padStart(HASH_LENGTH, '0');
}
