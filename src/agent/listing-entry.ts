import type { EntryType } from '../fence/index.ts';
import type { Mtime } from './mtime.ts';

/** An entry of a folder as it is handed over. */
export interface ListingEntry {
  readonly name: string;
  readonly type: EntryType;
  readonly size?: number | undefined;
  readonly mtime?: Mtime | undefined;
  /** Of a folder whose content is told too. */
  readonly children?: readonly ListingEntry[] | undefined;
}

/** An entry of a folder with its path from the project root. */
export interface PathInfo {
  readonly name: string;
  readonly path: string;
  readonly type: EntryType;
  readonly size?: number;
  readonly mtime?: Mtime;
  /** Of a folder whose content is known. */
  readonly children?: readonly PathInfo[];
}
