import type { Stats } from 'node:fs';
import { isCode, RingfenceError } from '../errors.ts';
import { SEPARATOR } from './caller-path.ts';
import type { Dir } from './dir.ts';

const MAX_LINKS = 40;
/** Beyond the path's own length: what link targets may add before they count as a circle. */
const MAX_EXTRA_STEPS = 10_000;

/**
 * Where a path ends: an open directory and one name in it. Dispose of it to close the directory. Folders that were made on
 * the way and are still empty by then are removed: whatever they were made for has failed.
 */
export interface Location extends Disposable {
  readonly dir: Dir;
  /** `.` if the path is the directory itself, as the root is. */
  readonly name: string;
  /** Of the entry itself, not followed; undefined if nothing is there. */
  readonly stats: Stats | undefined;
  /** The way there from the root, with a followed last link replaced by where it leads; empty for the root. */
  readonly path: string;
}

export interface ResolveOptions {
  /** Follow a link in the last place. Links before it are always followed. */
  readonly follow: boolean;
  /** Make missing folders on the way to the last name. */
  readonly makeParents?: boolean;
}

export interface ResolverRoot {
  /** Opens the root's directory anew. */
  open(): Dir;
  /** The root's real path as names from `/` down. Only ever compared with link targets. */
  readonly real: readonly string[];
  /** Other spellings of the same path under which links may name it. */
  readonly aliases: readonly (readonly string[])[];
}

/**
 * Walks a path one name at a time from the root's descriptor, reading links in our own code. Nothing outside the root
 * is ever opened: a link that climbs above the root is only compared, name by name, with the root's own path, and is
 * refused (`outside_root`) unless it comes back in. Raises `link_loop` past 40 links, and `invalid_path` for a link whose
 * target is not UTF-8.
 */
export function resolveBeneath(top: ResolverRoot, segments: readonly string[], options: ResolveOptions): Location {
  const walk = new Resolver(top, segments);
  try {
    return walk.run(options);
  } catch (error) {
    walk.end();
    throw error;
  }
}

class Resolver {
  dir: Dir;
  readonly #top: ResolverRoot;
  /** The names from the root down to `dir`, all of them directories. */
  #names: string[] = [];
  #pending: string[];
  #links = 0;
  #steps: number;
  /** How many levels above the root a link has climbed; nothing is opened while this is not 0. */
  #above = 0;
  /** The folders made, each by its names from the root down. */
  readonly #made: string[][] = [];

  constructor(top: ResolverRoot, segments: readonly string[]) {
    this.#top = top;
    this.#pending = segments.toReversed();
    this.#steps = segments.length + MAX_EXTRA_STEPS;
    this.dir = top.open();
  }

  run({ follow, makeParents = false }: ResolveOptions): Location {
    for (let name = this.#pending.pop(); name !== undefined; name = this.#pending.pop()) {
      if (this.#steps-- <= 0) throw new RingfenceError('link_loop', {});
      if (name === '' || name === '.') continue;
      if (name === '..') this.#up();
      else if (this.#above > 0) this.#backDown(name);
      else {
        const last = this.#pending.every((rest) => rest === '' || rest === '.');
        const found = last ? this.#last(name, follow) : this.#enter(name, makeParents);
        if (found !== undefined) return found;
      }
    }
    if (this.#above > 0) throw this.#escape();
    return this.#location('.', this.dir.lstat('.'));
  }

  #last(name: string, follow: boolean): Location | undefined {
    const stats = this.dir.lstat(name);
    if (stats?.isSymbolicLink() && follow) {
      this.#followLink(name);
      return undefined;
    }
    // A link's target may end in a slash, and then only a folder will do.
    if (this.#pending.length > 0 && stats?.isDirectory() === false) throw new RingfenceError('not_directory', {});
    return this.#location(name, stats);
  }

  #enter(name: string, makeParents: boolean): undefined {
    let next: Dir;
    try {
      next = this.dir.openDir(name);
    } catch (error) {
      if (isCode(error, 'not_found') && makeParents) return this.#make(name);
      // A link, a file, or something swapped in just now: look, and decide by what is there.
      if (!isCode(error, 'not_directory', 'link_loop')) throw error;
      const stats = this.dir.lstat(name);
      if (stats?.isSymbolicLink()) this.#followLink(name);
      else if (stats?.isDirectory()) this.#pending.push(name);
      else throw error;
      return undefined;
    }
    this.#moveTo(next);
    this.#names.push(name);
    return undefined;
  }

  #make(name: string): undefined {
    try {
      this.dir.mkdir(name);
      this.#made.push([...this.#names, name]);
    } catch (error) {
      if (!isCode(error, 'already_exists')) throw error;
    }
    this.#pending.push(name);
    return undefined;
  }

  end(): void {
    this.dir[Symbol.dispose]();
    try {
      for (const names of this.#made.reverse()) this.#removeIfEmpty(names);
    } catch (error) {
      // The first that is in use, as all are after a success, ends it.
      if (!(error instanceof RingfenceError)) throw error;
    }
  }

  #removeIfEmpty(names: readonly string[]): void {
    let dir = this.#top.open();
    try {
      for (const name of names.slice(0, -1)) {
        using above = dir;
        dir = above.openDir(name);
      }
      dir.rmdir(names.at(-1) ?? '');
    } finally {
      dir[Symbol.dispose]();
    }
  }

  #followLink(name: string): void {
    if (++this.#links > MAX_LINKS) throw new RingfenceError('link_loop', {});
    const target = this.#readlink(name);
    if (target === undefined) {
      this.#pending.push(name);
      return;
    }
    const names = target.split(SEPARATOR);
    if (target.startsWith('/')) {
      this.#restart();
      const known = this.#top.aliases.find((alias) => alias.every((part, i) => part === names[i + 1]));
      if (known !== undefined) names.splice(0, known.length + 1);
      else this.#above = this.#top.real.length;
    }
    this.#pending.push(...names.reverse());
  }

  /** Undefined if what was a link a moment ago is none any more, so that it has to be looked at again. */
  #readlink(name: string): string | undefined {
    try {
      return this.dir.readlink(name);
    } catch (error) {
      if (isCode(error, 'io_error') && error.details.errno === 'EINVAL') return undefined;
      throw error;
    }
  }

  #up(): void {
    if (this.#above > 0) {
      this.#above = Math.min(this.#above + 1, this.#top.real.length);
    } else if (this.#names.length === 0) {
      // The parent of `/` is `/`.
      this.#above = Math.min(1, this.#top.real.length);
    } else {
      // Only the current directory is held, so a parent is reached by walking again: once for a whole row of `..`,
      // or a link up from far below would cost as many steps as the square of its depth.
      this.#names.pop();
      while (this.#names.length > 0 && this.#pending.at(-1) === '..') {
        this.#names.pop();
        this.#pending.pop();
      }
      this.#pending.push(...this.#names.reverse());
      this.#restart();
    }
  }

  #backDown(name: string): void {
    if (name !== this.#top.real[this.#top.real.length - this.#above]) throw this.#escape(name);
    this.#above -= 1;
  }

  #restart(): void {
    this.#moveTo(this.#top.open());
    this.#names = [];
  }

  #moveTo(next: Dir): void {
    this.dir[Symbol.dispose]();
    this.dir = next;
  }

  #escape(name = ''): RingfenceError {
    const climbed = this.#top.real.slice(0, this.#top.real.length - this.#above);
    const rest = this.#pending.toReversed().filter((part) => part !== '' && part !== '.');
    return new RingfenceError('outside_root', {
      resolved: `/${[...climbed, name, ...rest].filter(Boolean).join('/')}`,
    });
  }

  #location(name: string, stats: Stats | undefined): Location {
    const { dir } = this;
    const path = (name === '.' ? this.#names : [...this.#names, name]).join('/');
    return { dir, name, stats, path, [Symbol.dispose]: () => this.end() };
  }
}
