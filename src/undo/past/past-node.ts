import type { Stats } from 'node:fs';
import { type Dir, type EntryType, entryTypeOf, FenceError, isFenceError, type Name } from '../../fence/index.ts';
import { HISTORY_FOLDER, nameToText, textToName } from '../../history/index.ts';

/** An entry as it was at one moment. */
export interface PastEntry {
  readonly type: EntryType;
  readonly ino: number;
  readonly mode: number;
  readonly size: number;
  readonly mtimeMs: number;
  /** Reads the content of a file. Content that is no longer kept is `not_found`. */
  read(): Buffer;
  /** Reads where a link leads. */
  target(): Name;
  /** Lists the names in a folder as the history writes them, sorted. */
  names(): string[];
  /** Returns the entry of a folder; undefined if there is none. */
  child(name: string): PastEntry | undefined;
}

/** Where an entry really is, now: in the root, or among the kept entries. */
export class Origin {
  readonly name: Name;
  /** Opens the folder that holds it. */
  readonly openParent: () => Dir;

  constructor(openParent: () => Dir, name: Name) {
    this.openParent = openParent;
    this.name = name;
  }

  inside(name: Name): Origin {
    return new Origin(() => this.openDir(), name);
  }

  openDir(): Dir {
    using parent = this.openParent();
    return parent.openDir(this.name);
  }

  lstat(): Stats | undefined {
    using parent = this.openParent();
    return parent.lstat(this.name);
  }
}

/** How much of a file is read at once. */
const CHUNK_BYTES = 1024 * 1024;

/** A part of a file's content: the beginning of a file that is there now. */
interface Piece {
  readonly origin: Origin;
  readonly length: number;
}

/** What all names of a file share. It is changed where a file was changed in place. */
export interface PastInode {
  readonly type: EntryType;
  readonly ino: number;
  readonly mode: number;
  readonly ctimeMs: number;
  size: number;
  mtimeMs: number;
  /** The exact time of modification, if it is not that of now. */
  mtimeNs?: bigint | undefined;
  /** The content, if it was put together. */
  pieces: Piece[] | undefined;
}

/** The inodes of a tree by device and number, so that all names of a file have the same one. */
export class PastInodes {
  readonly #known = new Map<string, PastInode>();

  of(stats: Stats): PastInode {
    const key = `${stats.dev} ${stats.ino}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const { ino, mode, size, mtimeMs, ctimeMs } = stats;
    const inode = { type: entryTypeOf(stats), ino, mode: mode & 0o7777, size, mtimeMs, ctimeMs, pieces: undefined };
    this.#known.set(key, inode);
    return inode;
  }
}

/** An entry of a past tree. Its folders are read from disk when they are asked for, as far as they are as they were. */
export class PastNode implements PastEntry {
  readonly inode: PastInode;
  /** Undefined if it is no longer anywhere. */
  readonly origin: Origin | undefined;
  readonly #inodes: PastInodes;
  /** The entries that were asked for or that are not as they are now. */
  readonly #children = new Map<string, PastNode | undefined>();

  constructor(inode: PastInode, origin: Origin | undefined, inodes: PastInodes) {
    this.inode = inode;
    this.origin = origin;
    this.#inodes = inodes;
  }

  /** Makes the node of an entry that is there now; undefined if there is none. */
  static at(origin: Origin, inodes: PastInodes): PastNode | undefined {
    const stats = origin.lstat();
    return stats && new PastNode(inodes.of(stats), origin, inodes);
  }

  get type(): EntryType {
    return this.inode.type;
  }
  get ino(): number {
    return this.inode.ino;
  }
  get mode(): number {
    return this.inode.mode;
  }
  get size(): number {
    return this.inode.size;
  }
  get mtimeMs(): number {
    return this.inode.mtimeMs;
  }

  child(name: string): PastNode | undefined {
    if (this.#children.has(name)) return this.#children.get(name);
    if (this.type !== 'directory' || this.origin === undefined) return undefined;
    const found = PastNode.at(this.origin.inside(textToName(name)), this.#inodes);
    this.#children.set(name, found);
    return found;
  }

  /** Lists all entries of a folder, in no order. Takes one look at each, for folders that have many. */
  *entries(): Generator<[name: string, node: PastNode], void, undefined> {
    if (this.origin !== undefined) {
      const { origin } = this;
      using dir = origin.openDir();
      for (const { raw } of dir.list()) {
        const name = nameToText(raw);
        if (raw === HISTORY_FOLDER || this.#children.has(name)) continue;
        const stats = dir.lstat(raw);
        if (stats !== undefined) yield [name, new PastNode(this.#inodes.of(stats), origin.inside(raw), this.#inodes)];
      }
    }
    for (const [name, node] of this.#children) if (node !== undefined) yield [name, node];
  }

  /** Puts an entry there, or takes it away. */
  setChild(name: string, node: PastNode | undefined): void {
    this.#children.set(name, node);
  }

  names(): string[] {
    const names = new Set<string>();
    if (this.origin !== undefined) {
      using dir = this.origin.openDir();
      for (const { raw } of dir.list()) if (raw !== HISTORY_FOLDER) names.add(nameToText(raw));
    }
    for (const [name, node] of this.#children) {
      if (node === undefined) names.delete(name);
      else names.add(name);
    }
    return [...names].sort();
  }

  read(): Buffer {
    const bytes = Buffer.alloc(this.inode.size);
    let at = 0;
    for (const chunk of this.chunks()) at += chunk.copy(bytes, at);
    return bytes.subarray(0, at);
  }

  /** Reads the content of a file in chunks, each of which is valid until the next. */
  *chunks(): Generator<Buffer, void, undefined> {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, Math.max(1, this.inode.size)));
    for (const { origin, length } of this.inode.pieces ?? [{ origin: this.#origin(), length: this.inode.size }]) {
      using dir = origin.openParent();
      using file = dir.openFile(origin.name);
      let read = 1;
      for (let at = 0; at < length && read > 0; at += read) {
        read = file.read(chunk.subarray(0, Math.min(chunk.length, length - at)), at);
        yield chunk.subarray(0, read);
      }
    }
  }

  target(): Name {
    const origin = this.#origin();
    using dir = origin.openParent();
    return dir.readlinkBytes(origin.name);
  }

  /** Returns the exact time of the last modification, in nanoseconds since 1970. */
  mtimeNs(): bigint {
    if (this.inode.mtimeNs !== undefined) return this.inode.mtimeNs;
    const origin = this.#origin();
    using dir = origin.openParent();
    return dir.mtimeNs(origin.name);
  }

  /** Sets the content to its first bytes. */
  cut(size: number): void {
    const { inode } = this;
    let left = size;
    inode.pieces = this.#pieces()
      .map(({ origin, length }) => {
        const kept = { origin, length: Math.min(length, left) };
        left -= kept.length;
        return kept;
      })
      .filter(({ length }) => length > 0);
    inode.size = size;
  }

  /** Adds a file's content to the end. */
  extend(tail: PastNode): void {
    this.inode.pieces = [...this.#pieces(), ...tail.#pieces()];
    this.inode.size += tail.size;
  }

  #pieces(): Piece[] {
    return this.inode.pieces ?? (this.origin ? [{ origin: this.origin, length: this.inode.size }] : []);
  }

  #origin(): Origin {
    if (this.origin === undefined) throw new FenceError('not_found', {});
    return this.origin;
  }
}

/** Runs a lookup; returns undefined if a folder on the way is missing or no folder. */
export function orMissing<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (!isFenceError(error, 'not_found', 'not_directory', 'link_loop')) throw error;
    return undefined;
  }
}
