import type { Stats } from 'node:fs';
import { SEPARATOR } from './caller-path.ts';
import type { Dir } from './dir.ts';
import { FenceError, isFenceError } from './errors.ts';

/** As many as Linux follows: see path_resolution(7). */
const MAX_LINKS = 40;
/** How many names link targets may add to a path before they count as a circle. */
const MAX_EXTRA_STEPS = 10_000;

/**
 * Where a path ends: an open directory and one name in it. Dispose of it to close the directory. That also removes the
 * folders that `makeParents` made and that are still empty, because what they were made for has failed.
 */
export interface Location extends Disposable {
  /** The directory that holds the entry, or the directory itself if `name` is `.`. */
  readonly dir: Dir;
  /** `.` if the path is the directory itself, as it is for the root. */
  readonly name: string;
  /** The status of the entry itself, not of what a link leads to; undefined if there is no such entry. */
  readonly stats: Stats | undefined;
  /** The path from the root, with a followed last link replaced by where it leads; empty for the root. */
  readonly path: string;
  /**
   * Flushes the names of the folders that `makeParents` made, which lie in folders above `dir`. Undefined if it made
   * none.
   */
  readonly syncMade?: (() => Promise<void>) | undefined;
}

/** How to resolve a path. */
export interface ResolveOptions {
  /** Whether to follow a link as the last name. Links before it are always followed. */
  readonly follow: boolean;
  /** Whether to make missing folders on the way to the last name. False by default. */
  readonly makeParents?: boolean;
  /** Whether nobody but the owner may enter the folders that are made. False by default. */
  readonly isPrivate?: boolean;
  /** Called before a folder is made, with its path from the root. */
  readonly onMake?: ((path: string) => MadeFolder) | undefined;
}

/** Hears what becomes of a folder that was to be made. */
export interface MadeFolder {
  /** It was made. */
  done(): void;
  /** It was not made, or was removed again because what it was made for has failed. */
  cancel(): void;
}

/** The root that paths are resolved beneath. */
export interface ResolverRoot {
  /** Opens the root's directory. */
  open(): Dir;
  /** The root's real path as names from `/` down. It is only compared with link targets, never opened. */
  readonly real: readonly string[];
  /** Other spellings of the root's path that links may use. */
  readonly aliases: readonly (readonly string[])[];
}

/**
 * Resolves a path one name at a time from the root's directory and reads links itself, as the kernel's RESOLVE_BENEATH
 * does in one call. Nothing outside the root is opened: a link that climbs above the root is compared, name by name,
 * with the root's own path, and is refused (`outside_root`) unless it comes back in. Raises `link_loop` past 40 links,
 * and `invalid_path` for a link whose target is not UTF-8.
 */
export function resolveBeneath(root: ResolverRoot, segments: readonly string[], options: ResolveOptions): Location {
  const resolver = new Resolver(root, segments);
  try {
    return resolver.run(options);
  } catch (error) {
    resolver.end();
    throw error;
  }
}

interface MakeOptions extends Pick<ResolveOptions, 'onMake'> {
  readonly mode: number;
}

class Resolver {
  dir: Dir;
  readonly #root: ResolverRoot;
  /** The names from the root down to `dir`, all of them directories. */
  #names: string[] = [];
  #pending: string[];
  #links = 0;
  #steps: number;
  /** Levels that a link has climbed above the root. Nothing is opened while this is not 0. */
  #above = 0;
  /** The folders that were made, each by its names from the root down. */
  readonly #made: { readonly names: string[]; readonly heard: MadeFolder | undefined }[] = [];

  constructor(root: ResolverRoot, segments: readonly string[]) {
    this.#root = root;
    this.#pending = segments.toReversed();
    this.#steps = segments.length + MAX_EXTRA_STEPS;
    this.dir = root.open();
  }

  run({ follow, makeParents = false, isPrivate = false, onMake }: ResolveOptions): Location {
    const make = makeParents ? { mode: isPrivate ? 0o700 : 0o755, onMake } : undefined;
    for (let name = this.#pending.pop(); name !== undefined; name = this.#pending.pop()) {
      if (this.#steps-- <= 0) throw new FenceError('link_loop', {});
      if (name === '' || name === '.') continue;
      if (name === '..') this.#up();
      else if (this.#above > 0) this.#backDown(name);
      else {
        const last = this.#pending.every((rest) => rest === '' || rest === '.');
        const found = last ? this.#resolveLast(name, follow) : this.#enter(name, make);
        if (found !== undefined) return found;
      }
    }
    if (this.#above > 0) throw this.#escape();
    return this.#location('.', this.dir.lstat('.'));
  }

  #resolveLast(name: string, follow: boolean): Location | undefined {
    const stats = this.dir.lstat(name);
    if (stats?.isSymbolicLink() && follow) {
      this.#followLink(name);
      return undefined;
    }
    // A link's target may end in a slash, which only a folder satisfies.
    if (this.#pending.length > 0 && stats?.isDirectory() === false) throw new FenceError('not_directory', {});
    return this.#location(name, stats);
  }

  /** Enters a folder, or makes one unless `make` is undefined. */
  #enter(name: string, make: MakeOptions | undefined): undefined {
    let next: Dir;
    try {
      next = this.dir.openDir(name);
    } catch (error) {
      if (isFenceError(error, 'not_found') && make !== undefined) return this.#makeFolder(name, make);
      // A link, a file, or something that was swapped in just now: decide by what is there.
      if (!isFenceError(error, 'not_directory', 'link_loop')) throw error;
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

  #makeFolder(name: string, { mode, onMake }: MakeOptions): undefined {
    const names = [...this.#names, name];
    this.dir.assertMayPut(name, true);
    const heard = onMake?.(names.join('/'));
    try {
      this.dir.mkdir(name, mode);
      heard?.done();
      this.#made.push({ names, heard });
    } catch (error) {
      heard?.cancel();
      if (!isFenceError(error, 'already_exists')) throw error;
    }
    this.#pending.push(name);
    return undefined;
  }

  end(): void {
    this.dir[Symbol.dispose]();
    try {
      for (const { names, heard } of this.#made.reverse()) {
        this.#removeIfEmpty(names);
        heard?.cancel();
      }
    } catch (error) {
      // The first folder that is not empty ends this; after a success that is the innermost.
      if (!(error instanceof FenceError)) throw error;
    }
  }

  #removeIfEmpty(names: readonly string[]): void {
    using parent = this.#openParent(names);
    parent.rmdir(names.at(-1) ?? '');
  }

  async #syncMade(): Promise<void> {
    for (const { names } of this.#made) {
      try {
        using parent = this.#openParent(names);
        await parent.sync();
      } catch (error) {
        // Another process has moved or removed the folder since.
        if (!isFenceError(error, 'not_found', 'not_directory', 'link_loop')) throw error;
      }
    }
  }

  #openParent(names: readonly string[]): Dir {
    let dir = this.#root.open();
    for (const name of names.slice(0, -1)) {
      using above = dir;
      dir = above.openDir(name);
    }
    return dir;
  }

  #followLink(name: string): void {
    if (++this.#links > MAX_LINKS) throw new FenceError('link_loop', {});
    const target = this.#readlink(name);
    if (target === undefined) {
      this.#pending.push(name);
      return;
    }
    const names = target.split(SEPARATOR);
    if (target.startsWith('/')) {
      this.#restart();
      const known = this.#root.aliases.find((alias) => alias.every((part, i) => part === names[i + 1]));
      if (known !== undefined) names.splice(0, known.length + 1);
      else this.#above = this.#root.real.length;
    }
    this.#pending.push(...names.reverse());
  }

  /**
   * Reads where a link leads. Undefined if something has replaced the link, so that the name has to be resolved again.
   */
  #readlink(name: string): string | undefined {
    try {
      return this.dir.readlink(name);
    } catch (error) {
      if (isFenceError(error, 'io_error') && error.details.errno === 'EINVAL') return undefined;
      throw error;
    }
  }

  /** Handles `..`. */
  #up(): void {
    if (this.#above > 0) {
      this.#above = Math.min(this.#above + 1, this.#root.real.length);
    } else if (this.#names.length === 0) {
      // The parent of `/` is `/`.
      this.#above = Math.min(1, this.#root.real.length);
    } else {
      // Only the current directory is open, so a parent is reached by walking from the root again. A row of `..` is
      // taken at once: otherwise a link up from far below would cost a number of steps that grows with the square of
      // its depth.
      this.#names.pop();
      while (this.#names.length > 0 && this.#pending.at(-1) === '..') {
        this.#names.pop();
        this.#pending.pop();
      }
      this.#pending.push(...this.#names.reverse());
      this.#restart();
    }
  }

  /** Handles a name while above the root: only the root's own path leads back in. */
  #backDown(name: string): void {
    if (name !== this.#root.real[this.#root.real.length - this.#above]) throw this.#escape(name);
    this.#above -= 1;
  }

  #restart(): void {
    this.#moveTo(this.#root.open());
    this.#names = [];
  }

  #moveTo(next: Dir): void {
    this.dir[Symbol.dispose]();
    this.dir = next;
  }

  #escape(name = ''): FenceError {
    const climbed = this.#root.real.slice(0, this.#root.real.length - this.#above);
    const rest = this.#pending.toReversed().filter((part) => part !== '' && part !== '.');
    return new FenceError('outside_root', {
      resolved: `/${[...climbed, name, ...rest].filter(Boolean).join('/')}`,
    });
  }

  #location(name: string, stats: Stats | undefined): Location {
    const { dir } = this;
    const path = (name === '.' ? this.#names : [...this.#names, name]).join('/');
    const syncMade = this.#made.length === 0 ? undefined : () => this.#syncMade();
    return { dir, name, stats, path, syncMade, [Symbol.dispose]: () => this.end() };
  }
}
