import fs from 'node:fs';
import path from 'node:path';
import { isCode, RingfenceError } from '../errors.ts';
import { KeyedMutex } from '../runtime/keyed-mutex.ts';
import { type Backend, type BackendName, chooseBackend } from './backend.ts';
import { type CallerPath, type HostPath, parseCallerPath } from './caller-path.ts';
import { DescriptorDir, O_PATH } from './descriptor-dir.ts';
import { type Dir, type SharedDir, wrapRegularFile } from './dir.ts';
import { fromSystem } from './errno.ts';
import type { OpenFile } from './open-file.ts';
import { PathDir } from './path-dir.ts';
import { type Location, type ResolveOptions, type ResolverRoot, resolveBeneath } from './resolver.ts';

const { O_RDONLY, O_DIRECTORY, O_NONBLOCK, O_NOCTTY } = fs.constants;

const SWAP_RETRIES = 3;

/** What a worker thread needs to use the same root: descriptors are shared by all threads of a process. */
export interface SharedRoot {
  readonly name: string;
  readonly fd: number | undefined;
  readonly real: HostPath;
  readonly given: HostPath;
  readonly backend: BackendName;
}

/**
 * The only door to the files under one folder. A root is an open descriptor, not a string: whatever a path says,
 * whichever links it crosses, and whoever renames things meanwhile, what comes back lies inside.
 *
 * Not covered: hard links and bind mounts that the host put inside the folder lead where they lead, and on macOS and
 * Windows (backend `portable`) a swap at the right moment can still win.
 */
export class Root implements Disposable {
  readonly name: string;
  readonly #backend: Backend;
  readonly #top: ResolverRoot;
  readonly #shared: SharedRoot;
  readonly #owned: boolean;
  readonly #turns = new KeyedMutex();
  readonly #alone = new KeyedMutex();
  #closed = false;

  private constructor(shared: SharedRoot, backend: Backend, owned: boolean) {
    this.name = shared.name;
    this.#shared = shared;
    this.#backend = backend;
    this.#owned = owned;
    const { syscalls } = backend;
    const { real, given } = shared;
    this.#top = {
      open: () => {
        const fd = this.#fd();
        return fd === undefined ? new PathDir(real) : new DescriptorDir(fd, { syscalls, owned: false });
      },
      real: split(real),
      aliases: real === given ? [] : [split(given)],
    };
  }

  /** Opens a folder of this machine as a root. Throws a system error if it is not a readable folder. */
  static open(name: string, hostPath: string, backend: Backend = chooseBackend()): Root {
    const given = path.resolve(hostPath) as HostPath;
    const real = fs.realpathSync.native(given) as HostPath;
    fs.readdirSync(real);
    const fd = backend.name === 'portable' ? undefined : fs.openSync(real, O_PATH | O_DIRECTORY);
    return new Root({ name, fd, real, given, backend: backend.name }, backend, true);
  }

  /** The same root in another thread. It borrows the descriptor, which the original closes. */
  static fromShared(shared: SharedRoot): Root {
    return new Root(shared, chooseBackend(shared.backend), false);
  }

  share(): SharedRoot {
    return this.#shared;
  }

  /** A path that a client wrote for this root. Raises `outside_root` and `invalid_path`. */
  parse(raw: string): CallerPath {
    try {
      return parseCallerPath(raw);
    } catch (error) {
      if (!isCode(error, 'outside_root')) throw fromSystem(error, raw, this.name);
      const resolved = path.resolve(this.#shared.real, `./${raw}`);
      throw new RingfenceError('outside_root', { resolved }, { path: raw, root: this.name });
    }
  }

  /** Does work that reads and then writes one file after such work on it that was asked for before. */
  exclusive<T>(path: CallerPath, work: () => Promise<T>): Promise<T> {
    return this.#turns.runExclusive(path.segments.join('/'), work);
  }

  /** Does work that takes much memory, one at a time and in the order in which it was asked for. */
  exclusiveLarge<T>(work: () => Promise<T>): Promise<T> {
    return this.#alone.runExclusive('', work);
  }

  /** Opens a regular file for reading, following links that stay inside. */
  openFile(path: CallerPath): OpenFile {
    return this.#located(path, () => {
      const fd = this.#openBeneath(path.segments, O_RDONLY | O_NONBLOCK | O_NOCTTY);
      if (fd !== undefined) {
        try {
          return wrapRegularFile(fd);
        } catch (error) {
          fs.closeSync(fd);
          throw error;
        }
      }
      return this.#retrying(() => {
        using found = resolveBeneath(this.#top, path.segments, { follow: true });
        if (found.stats === undefined) throw new RingfenceError('not_found', {});
        return found.dir.openFile(found.name);
      });
    });
  }

  /** Opens a folder, following links that stay inside. */
  openDir(path: CallerPath): Dir {
    return this.#located(path, () => this.#openDir(path.segments));
  }

  /**
   * A directory of this root that is open in another thread. Only to look at entries: its number may be another's as soon as
   * it is closed there, and what is found then means nothing.
   */
  borrow({ fd }: SharedDir): Dir {
    return new DescriptorDir(fd, { syscalls: this.#backend.syscalls, owned: false });
  }

  /** Memory to read files into, placed so that the system copies into its beginning fast. What it holds is left to chance. */
  allocateReadBuffer(bytes: number): Buffer {
    return this.#backend.syscalls?.allocatePageAligned(bytes) ?? Buffer.allocUnsafeSlow(bytes);
  }

  /**
   * Finds where a path ends, without opening the entry itself. With `follow`, the entry is never a link that was
   * there when looked at; acting on it through `dir` is safe either way, since a Dir follows no links.
   */
  locate(path: CallerPath, options: ResolveOptions): Location {
    return this.#located(
      path,
      () => this.#fastLocate(path, options) ?? resolveBeneath(this.#top, path.segments, options),
    );
  }

  [Symbol.dispose](): void {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#owned && this.#shared.fd !== undefined) fs.closeSync(this.#shared.fd);
  }

  /** The number of a closed descriptor soon belongs to another folder, perhaps to another root. */
  #fd(): number | undefined {
    if (this.#closed) throw new Error('the root is closed');
    return this.#shared.fd;
  }

  #openDir(segments: readonly string[]): Dir {
    if (segments.length === 0) this.#assertThere();
    const fd = this.#openBeneath(segments, O_PATH | O_DIRECTORY);
    if (fd !== undefined) return this.#dir(fd);
    return this.#retrying(() => {
      const found = resolveBeneath(this.#top, segments, { follow: true });
      if (found.name === '.') return found.dir;
      using _parent = found;
      if (found.stats === undefined) throw new RingfenceError('not_found', {});
      return found.dir.openDir(found.name);
    });
  }

  /** A folder that was removed can still be listed through its descriptor, and would look empty. */
  #assertThere(): void {
    using top = this.#top.open();
    if (top.lstat('.')?.nlink === 0) throw new RingfenceError('not_found', {});
  }

  #fastLocate(path: CallerPath, { follow }: ResolveOptions): Location | undefined {
    const name = path.segments.at(-1);
    if (name === undefined || this.#backend.syscalls === undefined) return undefined;
    const fd = this.#openBeneath(path.segments.slice(0, -1), O_PATH | O_DIRECTORY);
    if (fd === undefined) return undefined;
    let dir: Dir | undefined = this.#dir(fd);
    try {
      const stats = dir.lstat(name);
      // The resolver also has to say where a link really leads, so it starts over for one.
      if (!(follow && stats?.isSymbolicLink())) {
        const opened = dir;
        dir = undefined;
        return {
          dir: opened,
          name,
          stats,
          path: path.segments.join('/'),
          [Symbol.dispose]: () => opened[Symbol.dispose](),
        };
      }
      return undefined;
    } finally {
      dir?.[Symbol.dispose]();
    }
  }

  #dir(fd: number): Dir {
    return new DescriptorDir(fd, { syscalls: this.#backend.syscalls });
  }

  /**
   * One confined open by the syscalls. Undefined where our own resolver has to do it (absolute links, over-long paths), or
   * has to find out what is wrong.
   */
  #openBeneath(segments: readonly string[], flags: number): number | undefined {
    const fd = this.#fd();
    if (this.#backend.syscalls === undefined || fd === undefined) return undefined;
    return this.#backend.syscalls.openat2(fd, segments.join('/') || '.', flags);
  }

  /**
   * A link swapped in between looking and opening is refused by the open; look again a few times, then give up.
   * A circle is found by the resolver, not by the system, and stays one however often it is walked.
   */
  #retrying<T>(attempt: () => T): T {
    for (let left = SWAP_RETRIES; ; left -= 1) {
      try {
        return attempt();
      } catch (error) {
        if (left === 0 || !isCode(error, 'link_loop') || error.cause === undefined) throw error;
      }
    }
  }

  #located<T>(path: CallerPath, call: () => T): T {
    try {
      return call();
    } catch (error) {
      throw fromSystem(error, path.raw, this.name);
    }
  }
}

function split(hostPath: HostPath): string[] {
  return hostPath.split(path.sep).filter((part) => part !== '');
}
