import type { Name } from '../../fence/index.ts';
import { type Place, placeIn, START } from '../walk/dir-cache.ts';

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
export type Stretch =
  /** Where the search starts, whatever that is. */
  | { readonly kind: 'start' }
  /** All that is below a folder. */
  | { readonly kind: 'folder'; readonly place: Place }
  /** Some files of a folder. */
  | { readonly kind: 'files'; readonly place: Place; readonly names: Names }
  /** Part of a file. */
  | { readonly kind: 'lines'; readonly place: Place; readonly name: Name; readonly range: LineRange };

/**
 * What becomes of a stretch: things found and stretches that are left to do, in path order. `unfinished` is where a worker
 * stopped because it was told to or had more than enough.
 */
export type Piece<F> = Stretch | { readonly kind: 'found'; readonly found: F } | { readonly kind: 'unfinished' };

/** File names in one string where that is possible: it is sent at a fraction of what many cost. */
export type Names = string | readonly Name[];

export function packNames(names: readonly Name[]): Names {
  return names.every((name) => typeof name === 'string') ? names.join('/') : names;
}

export function unpackNames(names: Names): readonly Name[] {
  return typeof names === 'string' ? names.split('/') : names.map(received);
}

/** Pieces in a form that can be sent to another thread, however deep their folders are. */
export interface Packed<F> {
  /** The folders of the pieces and those above them, parents first. The start is number 0 and not listed. */
  readonly folders: readonly { readonly parent: number; readonly name: Name }[];
  readonly pieces: readonly PackedPiece<F>[];
}

type PackedPiece<F> = Numbered<Piece<F>>;
type Numbered<P> = P extends { readonly place: Place } ? Omit<P, 'place'> & { readonly folder: number } : P;

export function pack<F>(pieces: readonly Piece<F>[]): Packed<F> {
  const table = new FolderTable();
  const packed = pieces.map((piece): PackedPiece<F> => {
    if (!('place' in piece)) return piece;
    const { place, ...rest } = piece;
    return { ...rest, folder: table.number(place) } as PackedPiece<F>;
  });
  return { folders: table.folders, pieces: packed };
}

export function unpack<F>({ folders, pieces }: Packed<F>): Piece<F>[] {
  const places: Place[] = [START];
  for (const { parent, name } of folders) places.push(placeIn(places[parent] as Place, received(name)));
  return pieces.map((piece): Piece<F> => {
    if (!('folder' in piece)) return piece;
    const { folder, ...rest } = piece;
    const place = places[folder] as Place;
    return (rest.kind === 'lines' ? { ...rest, place, name: received(rest.name) } : { ...rest, place }) as Piece<F>;
  });
}

/** Numbers folders, each after those above it. */
class FolderTable {
  readonly folders: { parent: number; name: Name }[] = [];
  readonly #numbers = new Map<Place, number>([[START, 0]]);

  number(place: Place): number {
    const missing: Place[] = [];
    let at = place;
    while (!this.#numbers.has(at)) {
      missing.push(at);
      at = at.parent as Place;
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
function received(name: Name | Uint8Array): Name {
  return typeof name === 'string' ? name : Buffer.from(name);
}
