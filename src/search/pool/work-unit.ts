import type { Name } from '../../fence/index.ts';
import { childNode, type DirNode, START_NODE } from '../walk/dir-cache.ts';

/** The lines of a large file that begin in a range of its bytes. */
export interface LineRange {
  readonly from: number;
  readonly to: number;
  /** Where the file ends for this search. */
  readonly end: number;
  /** Which file it was that is being searched in parts; see `ReadableFile.identity`. */
  readonly identity: string;
}

/** A stretch of what is searched, in path order: what a worker is given to do. */
export type WorkUnit =
  /** Where the search starts, whatever that is. */
  | { readonly kind: 'start' }
  /** All that is below a folder. */
  | { readonly kind: 'folder'; readonly node: DirNode }
  /** Some files of a folder. */
  | { readonly kind: 'files'; readonly node: DirNode; readonly names: PackedNames }
  /** Part of a file. */
  | { readonly kind: 'lines'; readonly node: DirNode; readonly name: Name; readonly range: LineRange };

/**
 * What becomes of a stretch: things found and stretches that are left to do, in path order. `unfinished` is where a worker
 * stopped because it was told to or had more than enough.
 */
export type WorkResult<F> = WorkUnit | { readonly kind: 'found'; readonly found: F } | { readonly kind: 'unfinished' };

/** File names in one string where that is possible: it is sent at a fraction of what many cost. */
export type PackedNames = string | readonly Name[];

export function packNames(names: readonly Name[]): PackedNames {
  return names.every((name) => typeof name === 'string') ? names.join('/') : names;
}

export function unpackNames(names: PackedNames): readonly Name[] {
  return typeof names === 'string' ? names.split('/') : names.map(reviveName);
}

/** Pieces in a form that can be sent to another thread, however deep their folders are. */
export interface PackedResults<F> {
  /** The folders of the pieces and those above them, parents first. The start is number 0 and not listed. */
  readonly folders: readonly { readonly parent: number; readonly name: Name }[];
  readonly results: readonly PackedResult<F>[];
}

type PackedResult<F> = WithFolderNumber<WorkResult<F>>;
type WithFolderNumber<P> = P extends { readonly node: DirNode } ? Omit<P, 'node'> & { readonly folder: number } : P;

export function packResults<F>(results: readonly WorkResult<F>[]): PackedResults<F> {
  const table = new FolderTable();
  const packed = results.map((result): PackedResult<F> => {
    if (!('node' in result)) return result;
    const { node, ...rest } = result;
    return { ...rest, folder: table.number(node) } as PackedResult<F>;
  });
  return { folders: table.folders, results: packed };
}

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

/** Numbers folders, each after those above it. */
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

/** Names that are not UTF-8 arrive from another thread as plain bytes. */
function reviveName(name: Name | Uint8Array): Name {
  return typeof name === 'string' ? name : Buffer.from(name);
}
