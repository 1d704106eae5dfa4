import type { Name } from '../../fence/index.ts';
import { type Place, placeIn, START } from './trail.ts';

/** Files that one worker searches in one go, in path order, in a form that can be sent to it. */
export interface FileBatch {
  /** The folders the files are in and those above them, parents first. The start is number 0 and not listed. */
  readonly folders: readonly { readonly parent: number; readonly name: Name }[];
  readonly files: readonly { readonly folder: number; readonly name: Name }[];
}

/** The batch of a search that starts at a file: that file alone. */
export const THE_START: FileBatch = { folders: [], files: [{ folder: 0, name: START.name }] };

/** Puts a batch together. */
export class BatchBuilder {
  readonly #numbers = new Map<Place, number>([[START, 0]]);
  readonly #folders: { parent: number; name: Name }[] = [];
  readonly #files: { folder: number; name: Name }[] = [];

  get size(): number {
    return this.#files.length;
  }

  add(place: Place, name: Name): void {
    this.#files.push({ folder: this.#number(place), name });
  }

  build(): FileBatch {
    return { folders: this.#folders, files: this.#files };
  }

  #number(place: Place): number {
    const missing: Place[] = [];
    let at = place;
    while (!this.#numbers.has(at)) {
      missing.push(at);
      at = at.parent as Place;
    }
    let number = this.#numbers.get(at) as number;
    for (let next = missing.pop(); next !== undefined; next = missing.pop()) {
      this.#folders.push({ parent: number, name: next.name });
      number = this.#folders.length;
      this.#numbers.set(next, number);
    }
    return number;
  }
}

/** The files of a batch that came from another thread, where names that are not UTF-8 arrive as plain bytes. */
export function* filesOf(batch: FileBatch): Generator<{ place: Place; name: Name }, void> {
  const places: Place[] = [START];
  for (const { parent, name } of batch.folders) places.push(placeIn(places[parent] as Place, received(name)));
  for (const { folder, name } of batch.files) yield { place: places[folder] as Place, name: received(name) };
}

function received(name: Name | Uint8Array): Name {
  return typeof name === 'string' ? name : Buffer.from(name);
}
