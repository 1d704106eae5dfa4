import fs from 'node:fs';
import path from 'node:path';
import { KeyedMutex } from '../runtime/keyed-mutex.ts';
import { type Backend, type BackendName, chooseBackend } from './backend.ts';
import { type CallerPath, type HostPath, parseCallerPath } from './caller-path.ts';
import { closeQuietly } from './close-quietly.ts';
import { DescriptorDir, O_PATH } from './descriptor-dir.ts';
import type { Dir, SharedDir } from './dir.ts';
import { fromSystem } from './errno.ts';
import { FenceError, isFenceError } from './errors.ts';
import { Guard, type GuardRules, type Refusal } from './guard/guard.ts';
import { Place } from './guard/place.ts';
import { type OpenFile, wrapRegularFile } from './open-file.ts';
import { PathDir } from './path-dir.ts';
import { type Location, type ResolveOptions, type ResolverRoot, resolveBeneath } from './resolver.ts';

const { O_RDONLY, O_DIRECTORY, O_NONBLOCK, O_NOCTTY } = fs.constants;

const SWAP_RETRIES = 3;
const LISTED_RETRIES = 3;

/** A path together with the root that it belongs to. */
export interface RootPath {
  readonly root: Root;
  readonly path: CallerPath;
}

/** What another thread needs to use the same root: all threads of a process share its descriptors. */
export interface SharedRoot {
  readonly name: string;
  readonly fd: number | undefined;
  readonly real: HostPath;
  readonly given: HostPath;
  readonly backend: BackendName;
  readonly rules: GuardRules | undefined;
}

/**
 * Gives access to the files beneath one folder and to nothing else, like Go's os.Root (https://pkg.go.dev/os#Root). A
 * root is an open descriptor, not a string: no path, no link and no rename by another process makes its methods return
 * what lies outside.
 *
 * It does not protect against hard links and bind mounts that somebody with access to the host put inside the folder,
 * nor against other processes with the same rights. On macOS and Windows (backend `portable`) a swap at the right
 * moment can win.
 */
export class Root implements Disposable {
  /** The name that errors and results use for this root. */
  readonly name: string;
  readonly #backend: Backend;
  readonly #guard: Guard;
  readonly #resolverRoot: ResolverRoot;
  readonly #shared: SharedRoot;
  readonly #owned: boolean;
  #fileLocks = new KeyedMutex();
  #largeLock = new KeyedMutex();
  #closed = false;

  private constructor(shared: SharedRoot, backend: Backend, owned: boolean) {
    this.name = shared.name;
    this.#shared = shared;
    this.#backend = backend;
    this.#owned = owned;
    this.#guard = new Guard(shared.rules);
    const place = Place.top(this.#guard);
    const { syscalls } = backend;
    const { real, given } = shared;
    this.#resolverRoot = {
      open: () => {
        const fd = this.#fd();
        return fd === undefined
          ? new PathDir(real, place)
          : new DescriptorDir(fd, { place, syscalls, top: fd, owned: false });
      },
      real: split(real),
      aliases: real === given ? [] : [split(given)],
    };
  }

  /**
   * Opens a folder of the host as a root. The folder stays the root even if it is renamed or replaced later. Throws the
   * system error of Node, with the host path in it, if the folder is missing, not a folder or not readable. Close the
   * root after use. The `rules` hold for everything that is done through the root; without any, everything is allowed.
   */
  static open(name: string, hostPath: string, backend: Backend = chooseBackend(), rules?: GuardRules): Root {
    const given = path.resolve(hostPath) as HostPath;
    const real = fs.realpathSync.native(given) as HostPath;
    // Asks for permission without opening the folder, which Landlock would refuse for one that was replaced after the
    // start.
    fs.accessSync(`${real}${path.sep}.`, fs.constants.R_OK);
    const fd = backend.name === 'portable' ? undefined : fs.openSync(real, O_PATH | O_DIRECTORY);
    return new Root({ name, fd, real, given, backend: backend.name, rules }, backend, true);
  }

  /**
   * Makes a root of what `share` returned in another thread. It borrows the descriptor, which the original closes.
   * @internal
   */
  static fromShared(shared: SharedRoot): Root {
    return new Root(shared, chooseBackend(shared.backend), false);
  }

  /** Whether nothing in this root may be changed. */
  get isReadOnly(): boolean {
    return this.#guard.isReadOnly;
  }

  /**
   * Says which rule hides a path from callers, or keeps it from being changed; undefined if none does. Decides by the
   * names as they are written, and takes the last one for that of a file unless it is a folder.
   */
  explain(path: CallerPath, isFolder = false): Refusal | undefined {
    return Place.explain(this.#guard, path.segments, isFolder);
  }

  /**
   * Says which rule hides a path from callers; undefined if none does. Decides by the names as they are written, as
   * `explain` does.
   */
  hides(path: CallerPath, isFolder = false): Refusal | undefined {
    return Place.explainHidden(this.#guard, path.segments, isFolder);
  }

  /** Returns what `fromShared` needs to use this root in another thread, for as long as it is open here. @internal */
  share(): SharedRoot {
    return this.#shared;
  }

  /**
   * Returns this root without its rules, for what the program itself keeps in it. It borrows the descriptor, so it ends
   * with this one. @internal
   */
  withoutRules(): Root {
    return new Root({ ...this.#shared, rules: undefined }, this.#backend, false);
  }

  /**
   * Uses the locks of another root of the same folder, so that work which is exclusive in one of them is so in both.
   * @internal
   */
  shareLocks(other: Root): void {
    this.#fileLocks = other.#fileLocks;
    this.#largeLock = other.#largeLock;
  }

  /** Reports whether this root is the folder that a host path leads to now. @internal */
  isAt(hostPath: string): boolean {
    const own = this.top.lstat('.');
    const named = fs.statSync(hostPath, { throwIfNoEntry: false });
    return own !== undefined && named !== undefined && own.ino === named.ino && own.dev === named.dev;
  }

  /** The root's own directory, which is open for as long as the root is. @internal */
  get top(): Dir {
    return this.#resolverRoot.open();
  }

  /**
   * Parses a path that a caller wrote for this root, without touching the disk. Raises `outside_root` and
   * `invalid_path`.
   */
  parse(raw: string): CallerPath {
    try {
      return parseCallerPath(raw);
    } catch (error) {
      if (!isFenceError(error, 'outside_root')) throw fromSystem(error, raw, this.name);
      const resolved = path.resolve(this.#shared.real, `./${raw}`);
      throw new FenceError('outside_root', { resolved }, { path: raw, root: this.name });
    }
  }

  /**
   * Returns the path in this root that a host path stands for, `.` for the root's folder; undefined if it does not lie
   * inside. Compares names only, for messages to a caller who wrote a host path. @internal
   */
  fromHostPath(hostPath: string): string | undefined {
    if (!path.isAbsolute(hostPath)) return undefined;
    const names = split(path.normalize(hostPath) as HostPath);
    const { real, aliases } = this.#resolverRoot;
    const folder = [real, ...aliases].find(
      (own) => own.length > 0 && own.length <= names.length && own.every((name, i) => name === names[i]),
    );
    return folder && (names.slice(folder.length).join('/') || '.');
  }

  /**
   * Runs work that reads and then writes a file, after all such work on the same path that was started before.
   * @internal
   */
  exclusive<T>(path: CallerPath, work: () => Promise<T>): Promise<T> {
    return this.#fileLocks.runExclusive(path.segments.join('/'), work);
  }

  /** Runs work that takes much memory, one after another in this root. @internal */
  exclusiveLarge<T>(work: () => Promise<T>): Promise<T> {
    return this.#largeLock.runExclusive('', work);
  }

  /**
   * Opens a regular file for reading. Links that stay inside are followed. Raises `outside_root`, `not_found`,
   * `is_directory`, `special_file` and what else the file system refuses. Dispose of the file to close it.
   */
  openFile(path: CallerPath): OpenFile {
    return this.#withLocation(path, () => {
      try {
        return this.#openFile(path.segments);
      } catch (error) {
        return this.#openIfListed(path.segments, error);
      }
    });
  }

  #openFile(segments: readonly string[]): OpenFile {
    const flags = O_RDONLY | O_NONBLOCK | O_NOCTTY;
    const fd = this.#openBeneath(segments, flags) ?? this.#openLinked(segments, flags)?.fd;
    if (fd !== undefined) {
      try {
        return wrapRegularFile(fd);
      } catch (error) {
        closeQuietly(fd);
        throw error;
      }
    }
    return this.#retrySwaps(() => {
      using found = this.#resolve(segments, { follow: true });
      if (found.stats === undefined) throw new FenceError('not_found', {});
      return found.dir.openFile(found.name);
    });
  }

  /**
   * Opens a folder. Links that stay inside are followed. Raises `outside_root`, `not_found`, `not_directory` and what
   * else the file system refuses. Dispose of the `Dir` to close it.
   */
  openDir(path: CallerPath): Dir {
    return this.#withLocation(path, () => this.#openDir(path.segments));
  }

  /**
   * Makes a `Dir` of a directory of this root that is open in another thread, to stat entries with. Once it is closed
   * there, its descriptor may be another directory's, and what is found means nothing.
   * @internal
   */
  borrowDir({ fd }: SharedDir): Dir {
    // Without rules: it only stats names that the other thread has listed by them.
    const place = Place.top(new Guard(undefined));
    return new DescriptorDir(fd, { place, syscalls: this.#backend.syscalls, top: undefined, owned: false });
  }

  /** Allocates memory to read files into, aligned so that the system copies fast. It is not zeroed. @internal */
  allocateReadBuffer(bytes: number): Buffer {
    return this.#backend.syscalls?.allocatePageAligned(bytes) ?? Buffer.allocUnsafeSlow(bytes);
  }

  /**
   * Finds where a path ends, without opening the entry itself. With `follow`, a link as the last name is resolved; one
   * that is swapped in later is not followed either, because a `Dir` never does. A missing last name is no error, a
   * missing folder before it is `not_found`. Raises `outside_root` and what else the file system refuses. Dispose of
   * the location to close its directory.
   */
  locate(path: CallerPath, options: ResolveOptions): Location {
    return this.#withLocation(path, () => {
      const found = this.#locate(path, options);
      // Whoever makes missing folders is about to make the entry, too, and is not kept waiting for a list.
      if (found.stats !== undefined || options.makeParents || !isListed(found)) return found;
      found[Symbol.dispose]();
      return this.#locate(path, options);
    });
  }

  #locate(path: CallerPath, options: ResolveOptions): Location {
    return this.#locateByKernel(path, options) ?? this.#resolve(path.segments, options);
  }

  /**
   * Closes the root. Further calls are ignored. Using it afterwards throws a plain `Error`; what it opened stays open.
   */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#owned && this.#shared.fd !== undefined) closeQuietly(this.#shared.fd);
  }

  /** Closes the root, for `using`. */
  [Symbol.dispose](): void {
    this.close();
  }

  /** Returns the root's descriptor. Throws once the root is closed, because the kernel reuses descriptor numbers. */
  #fd(): number | undefined {
    if (this.#closed) throw new Error('the root is closed');
    return this.#shared.fd;
  }

  #openDir(segments: readonly string[]): Dir {
    if (segments.length === 0) this.#assertNotRemoved();
    const opened = this.#dirByKernel(segments);
    if (opened !== undefined) return opened.dir;
    return this.#retrySwaps(() => {
      const found = this.#resolve(segments, { follow: true });
      if (found.name === '.' && found.stats !== undefined) return found.dir;
      using _parent = found;
      if (found.stats === undefined) throw new FenceError('not_found', {});
      return found.dir.openDir(found.name);
    });
  }

  /** A removed folder could still be listed through its descriptor, and would look empty. */
  #assertNotRemoved(): void {
    using top = this.#resolverRoot.open();
    if (top.lstat('.')?.nlink === 0) throw new FenceError('not_found', {});
  }

  #locateByKernel(path: CallerPath, { follow }: ResolveOptions): Location | undefined {
    const name = path.segments.at(-1);
    // A path made from the target of a link may end in "..", which is no name of an entry.
    if (name === undefined || name === '..' || this.#backend.syscalls === undefined) return undefined;
    const found = this.#dirByKernel(path.segments.slice(0, -1));
    if (found === undefined) return undefined;
    let dir: Dir | undefined = found.dir;
    try {
      const stats = dir.lstat(name);
      // For a link, the resolver starts over: it also has to report where the link leads.
      if (!(follow && stats?.isSymbolicLink())) {
        const opened = dir;
        dir = undefined;
        return {
          dir: opened,
          name,
          stats,
          path: [...found.names, name].join('/'),
          [Symbol.dispose]: () => opened[Symbol.dispose](),
        };
      }
      return undefined;
    } finally {
      dir?.[Symbol.dispose]();
    }
  }

  /** Opens a folder, and returns the names that lead to it without links, as far as the root has rules. */
  #dirByKernel(segments: readonly string[]): { dir: Dir; names: readonly string[] } | undefined {
    const fd = this.#openBeneath(segments, O_PATH | O_DIRECTORY);
    if (fd !== undefined) return { dir: this.#dir(fd, segments), names: segments };
    const linked = this.#openLinked(segments, O_PATH | O_DIRECTORY);
    if (linked === undefined) return undefined;
    const dir = this.#dir(linked.fd, linked.names);
    dir.markWritten({ names: segments, entry: '.' });
    return { dir, names: linked.names };
  }

  #dir(fd: number, names: readonly string[]): Dir {
    const place = Place.at(this.#guard, names);
    return new DescriptorDir(fd, { place, syscalls: this.#backend.syscalls, top: this.#fd() });
  }

  /** Resolves a path name by name. For one with links, the rules hold for where it leads and for what was written. */
  #resolve(segments: readonly string[], options: ResolveOptions): Location {
    const found = resolveBeneath(this.#resolverRoot, segments, options);
    if (found.path === segments.join('/')) return found;
    found.dir.markWritten({ names: segments, entry: found.name });
    const { dir, name, path } = found;
    return { dir, name, path, stats: dir.lstat(name), [Symbol.dispose]: () => found[Symbol.dispose]() };
  }

  /**
   * Opens a path with one openat2(2). In a root with rules, the path has no links, so that its names are where the
   * entry is. Undefined if another way has to open it (links, very long paths, names that may be denied), or has to
   * find out what is wrong.
   */
  #openBeneath(segments: readonly string[], flags: number): number | undefined {
    const fd = this.#fd();
    const { hasRules } = this.#guard;
    if (this.#backend.syscalls === undefined || fd === undefined || this.#guard.mayDeny(segments)) return undefined;
    return this.#backend.syscalls.openat2(fd, segments.join('/') || '.', flags, !hasRules);
  }

  /**
   * Opens a path with links in a root with rules, and asks the kernel where it led. Undefined if the resolver has to
   * open it, which decides about names that may be denied.
   */
  #openLinked(segments: readonly string[], flags: number): { fd: number; names: readonly string[] } | undefined {
    const top = this.#fd();
    const { syscalls } = this.#backend;
    if (!this.#guard.hasRules || syscalls === undefined || top === undefined) return undefined;
    if (this.#guard.mayDeny(segments)) return undefined;
    const fd = syscalls.openat2(top, segments.join('/') || '.', flags, true);
    if (fd === undefined) return undefined;
    const names = namesBelow(top, fd);
    if (names !== undefined && !this.#guard.mayDeny(names)) return { fd, names };
    closeQuietly(fd);
    return undefined;
  }

  /** Opens a file once more that was not found, as long as its folder lists it: see `isListed`. */
  #openIfListed(segments: readonly string[], failure: unknown): OpenFile {
    for (let left = LISTED_RETRIES; ; left -= 1) {
      if (left === 0 || !isFenceError(failure, 'not_found') || !this.#isListed(segments)) throw failure;
      try {
        return this.#openFile(segments);
      } catch (error) {
        failure = error;
      }
    }
  }

  #isListed(segments: readonly string[]): boolean {
    try {
      using found = this.#resolve(segments, { follow: true });
      return isListed(found);
    } catch (error) {
      if (error instanceof FenceError) return false;
      throw error;
    }
  }

  /**
   * Repeats an attempt that failed because a link was swapped in between resolving and opening, a few times. A circle
   * of links is reported by the resolver, without a system error as its cause, and is not retried.
   */
  #retrySwaps<T>(attempt: () => T): T {
    for (let left = SWAP_RETRIES; ; left -= 1) {
      try {
        return attempt();
      } catch (error) {
        if (left === 0 || !isFenceError(error, 'link_loop') || error.cause === undefined) throw error;
      }
    }
  }

  #withLocation<T>(path: CallerPath, call: () => T): T {
    try {
      return call();
    } catch (error) {
      throw fromSystem(error, path.raw, this.name);
    }
  }
}

/** Returns the names that lead from one open directory to an open file below it; undefined if that cannot be told. */
function namesBelow(top: number, fd: number): readonly string[] | undefined {
  const [above, at] = [top, fd].map((each) => fs.readlinkSync(`/proc/self/fd/${each}`)) as [string, string];
  if (at === above) return [];
  const prefix = above === '/' ? above : `${above}/`;
  // The kernel adds that to the path of a removed file.
  return at.startsWith(prefix) && !at.endsWith(' (deleted)') ? at.slice(prefix.length).split('/') : undefined;
}

function split(hostPath: HostPath): string[] {
  return hostPath.split(path.sep).filter((part) => part !== '');
}

/**
 * Reports whether the list of a folder has an entry that could not be found, on a file system of several machines. Those
 * may not find a file for a moment that another machine has just replaced, until they have made that list.
 */
function isListed({ dir, name }: Location): boolean {
  return !dir.isLocal() && dir.list().some((entry) => entry.name === name);
}
