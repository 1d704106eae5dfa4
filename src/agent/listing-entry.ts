import type { EntryType } from '../fence/index.ts';
import type { Mtime } from './mtime.ts';

/** An entry of a folder as a client sends it. */
export interface ListingEntry {
  readonly name: string;
  readonly type: EntryType;
  readonly size?: number | undefined;
  readonly mtime?: Mtime | undefined;
  /** The entries of a folder, if the client sent them too. */
  readonly children?: readonly ListingEntry[] | undefined;
}

/** A validated entry of a folder, with its path relative to the project root. */
export interface PathInfo {
  readonly name: string;
  readonly path: string;
  readonly type: EntryType;
  readonly size?: number;
  readonly mtime?: Mtime;
  /** The entries of a folder, if they are known. */
  readonly children?: readonly PathInfo[];
}
