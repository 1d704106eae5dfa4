import type { RootPath } from '../fence/index.ts';
import type { WriteMode } from '../files/write/write-file.ts';
import type { Capability } from './capabilities.ts';

/**
 * What a call does to an entry: it makes it, adds to its end, changes a part of it, does so or makes it, puts other
 * content in its place, deletes it, or moves it elsewhere.
 */
export type ChangeKind = 'create' | 'append' | 'edit' | 'patch' | 'replace' | 'remove' | 'move';

/** An entry that a call would change, by which a person can be asked to agree to the call. */
export interface IntendedChange extends RootPath {
  readonly kind: ChangeKind;
  /** Whether a link at the path stands for what it leads to (the default, except for what is removed or moved). */
  readonly follow?: boolean;
  /** The capabilities that the change uses; by default what its tool needs. */
  readonly needs?: readonly Capability[];
  /** The only type of entry that the tool changes; by default any. */
  readonly only?: 'file' | 'folder';
  /** What a copy is made of. */
  readonly copyOf?: { readonly root: { readonly name: string }; readonly path: { readonly raw: string } };
}

/** Returns the changes of a move: what is at its destination is replaced, unless it must not `overwrite` anything. */
export function moveChanges(from: RootPath, to: RootPath, overwrite: boolean): IntendedChange[] {
  return [
    { ...from, kind: 'move' },
    { ...to, kind: overwrite ? 'replace' : 'create', follow: false },
  ];
}

/** Returns what a write in a mode does to a file. A file that must not exist is not looked for behind a link. */
export function writeChange(mode: WriteMode): Pick<IntendedChange, 'kind' | 'follow'> {
  if (mode === 'create_only') return { kind: 'create', follow: false };
  return { kind: mode === 'append' ? 'append' : 'replace' };
}
