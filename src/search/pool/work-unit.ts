import type { Name } from '../../fence/index.ts';
import { childNode, type DirNode, START_NODE } from '../walk/dir-cache.ts';

/** A range of bytes of a large file, which stands for the lines that start in it. */
export interface FileRange {
  readonly from: number;
  readonly to: number;
  /** Size of the file when the search reached it. */
  readonly end: number;
  /** Identity of that file, see `ReadableFile.identity`; a file that replaced it has another one. */
  readonly identity: string;
}

/** A contiguous part of a search in path order: what a task works on. */
export type WorkUnit =
  /** The start of the search, a folder or a file. */
  | { readonly kind: 'start' }
  /** Everything below a folder. */
  | { readonly kind: 'folder'; readonly node: DirNode }
  /** Some files of one folder. */
  | ({ readonly kind: 'files'; readonly node: DirNode; readonly names: PackedNames } & Turn)
  /** A range of a large file. */
  | ({ readonly kind: 'lines'; readonly node: DirNode; readonly name: Name; readonly range: FileRange } & Turn);

interface Turn {
  /** Set if a task handed the unit back because it has to wait until nothing before it is unfinished. */
  readonly inTurn?: true;
}

/**
 * What a work unit turns into, in path order: results, and units that are left to do. `unfinished` marks where a task
 * stopped because the search was stopped or its result is full.
 */
export type WorkResult<F> = WorkUnit | { readonly kind: 'found'; readonly found: F } | { readonly kind: 'unfinished' };

/**
 * File names joined by "/" where all are UTF-8, since structured cloning of one string is much cheaper than of many.
 */
export type PackedNames = string | readonly Name[];

/** Packs file names for sending. */
export function packNames(names: readonly Name[]): PackedNames {
  return names.every((name) => typeof name === 'string') ? names.join('/') : names;
}

/** Restores names packed by `packNames`. */
export function unpackNames(names: PackedNames): readonly Name[] {
  return typeof names === 'string' ? names.split('/') : names.map(reviveName);
}

/** Results in a form for structured cloning, which fails on deeply nested parents: folders are in a table. */
export interface PackedResults<F> {
  /**
   * The folders of the results and their ancestors, parents first. Number 0 is the start of the search and not listed.
   */
  readonly folders: readonly { readonly parent: number; readonly name: Name }[];
  readonly results: readonly PackedResult<F>[];
}

type PackedResult<F> = WithFolderNumber<WorkResult<F>>;
type WithFolderNumber<P> = P extends { readonly node: DirNode } ? Omit<P, 'node'> & { readonly folder: number } : P;

/** Packs results or units for sending. */
export function packResults<F>(results: readonly WorkResult<F>[]): PackedResults<F> {
  const table = new FolderTable();
  const packed = results.map((result): PackedResult<F> => {
    if (!('node' in result)) return result;
    const { node, ...rest } = result;
    return { ...rest, folder: table.number(node) } as PackedResult<F>;
  });
  return { folders: table.folders, results: packed };
}

/** Restores results packed by `packResults`. Each call creates new nodes. */
export function unpackResults<F>({ folders, results }: PackedResults<F>): WorkResult<F>[] {
  const nodes: DirNode[] = [START_NODE];
  for (const { parent, name } of folders) nodes.push(childNode(nodes[parent] as DirNode, reviveName(name)));
  return results.map((result): WorkResult<F> => {
    if (!('folder' in result)) return result;
    const { folder, ...rest } = result;
    const node = nodes[folder] as DirNode;
    return (
      rest.kind === 'lines' ? { ...rest, node, name: reviveName(rest.name) } : { ...rest, node }
    ) as WorkResult<F>;
  });
}

/** Numbers folders so that each comes after its parent. */
class FolderTable {
  readonly folders: { parent: number; name: Name }[] = [];
  readonly #numbers = new Map<DirNode, number>([[START_NODE, 0]]);

  number(node: DirNode): number {
    const missing: DirNode[] = [];
    let at = node;
    while (!this.#numbers.has(at)) {
      missing.push(at);
      at = at.parent as DirNode;
    }
    let number = this.#numbers.get(at) as number;
    for (let next = missing.pop(); next !== undefined; next = missing.pop()) {
      this.folders.push({ parent: number, name: next.name });
      number = this.folders.length;
      this.#numbers.set(next, number);
    }
    return number;
  }
}

/** Restores a name that is not UTF-8: structured cloning turns a Buffer into a Uint8Array. */
function reviveName(name: Name | Uint8Array): Name {
  return typeof name === 'string' ? name : Buffer.from(name);
}
