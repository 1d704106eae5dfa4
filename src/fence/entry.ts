import type fs from 'node:fs';

/** A file name: a string, or its bytes where they are not UTF-8. */
export type Name = string | Buffer;

/**
 * Decodes a file name to a string, or returns its bytes where they are not UTF-8 and a string would name another file.
 */
export function decodeName(bytes: Buffer): Name {
  const text = bytes.toString();
  return Buffer.from(text).equals(bytes) ? text : bytes;
}

/**
 * Throws a plain `Error` unless a name is one plain name or `.`. With a slash or `..`, a single name could leave its
 * directory.
 */
export function assertSingleName(name: Name): void {
  // A NUL would end the name early where it is handed to the kernel as a C string.
  const bad = typeof name === 'string' ? /[/\0]/.test(name) : name.includes(0x2f) || name.includes(0);
  if (bad || name.length === 0 || name.toString() === '..') throw new Error('not a single file name');
}

/** The kind of an entry. `other` is a FIFO, a socket or a device. */
export type EntryType = 'file' | 'directory' | 'symlink' | 'other';

/** An entry of a directory. */
export interface Entry {
  /** The name for people and JSON; a name that is not UTF-8 shows U+FFFD here. */
  readonly name: string;
  /** The name for system calls. */
  readonly raw: Name;
  /** The kind of the entry itself, not of what a link leads to. */
  readonly type: EntryType;
}

/** Returns what kind of entry a status or a directory record describes. */
export function entryTypeOf(item: fs.Stats | fs.Dirent | fs.Dirent<Buffer>): EntryType {
  if (item.isFile()) return 'file';
  if (item.isDirectory()) return 'directory';
  return item.isSymbolicLink() ? 'symlink' : 'other';
}
