import fs from 'node:fs';
import { RingfenceError } from '../errors.ts';
import { type HostPath, isReservedName } from './caller-path.ts';
import {
  assertSingleName,
  Dir,
  type Entry,
  type Name,
  notRegularError,
  SAFE_OPEN_FLAGS,
  type SharedDir,
} from './dir.ts';
import { fromSystem } from './errno.ts';
import { ReadableFile } from './readable-file.ts';
import type { RawEntry, StatLite, Syscalls } from './syscalls.ts';

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = fs.constants;

/** Not among Node's constants. Such a descriptor is a starting point only and needs no read permission. */
export const O_PATH = 0o10000000;

interface Options {
  /** Where present, does what plain Node cannot do in one step. */
  readonly syscalls: Syscalls | undefined;
  /** False for a root's own descriptor, which outlives every Dir made of it. */
  readonly owned?: boolean;
  /** The descriptor was opened for reading just now. */
  readonly listable?: boolean;
}

/**
 * A directory held by its descriptor (Linux). `/proc/PID/fd/N/name` is looked up from the very directory that was
 * opened, wherever it has been moved since, so there is no path left that anyone could swap.
 */
export class DescriptorDir extends Dir {
  readonly fd: number;
  readonly #base: string;
  readonly #syscalls: Syscalls | undefined;
  readonly #owned: boolean;
  /** The descriptor can be read, and nobody has begun to: then its first listing takes no other. */
  #listable: boolean;
  #closed = false;

  constructor(fd: number, { syscalls, owned = true, listable = false }: Options) {
    super();
    this.fd = fd;
    this.#base = `${descriptors()}${fd}/`;
    this.#syscalls = syscalls;
    this.#owned = owned;
    this.#listable = listable;
  }

  override share(): SharedDir | undefined {
    this.#assertOpen();
    return this.#syscalls && { fd: this.fd };
  }

  protected pathUnconfined(name: Name): HostPath | Buffer {
    this.#assertOpen();
    assertSingleName(name);
    if (typeof name === 'string') return (this.#base + name) as HostPath;
    return Buffer.concat([Buffer.from(this.#base), name]);
  }

  openDir(name: Name): DescriptorDir {
    const flags = O_PATH | O_DIRECTORY | O_NOFOLLOW;
    try {
      const fd = this.#openat(name, flags) ?? fs.openSync(this.pathUnconfined(name), flags);
      return new DescriptorDir(fd, { syscalls: this.#syscalls });
    } catch (error) {
      throw fromSystem(error);
    }
  }

  override openDirForListing(name: Name): DescriptorDir {
    const fd = this.#openat(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    // A folder that may be entered but not read opens only in the other way.
    return fd === undefined ? this.openDir(name) : new DescriptorDir(fd, { syscalls: this.#syscalls, listable: true });
  }

  override openForRead(name: Name): ReadableFile {
    const fd = this.#openat(name, O_RDONLY | SAFE_OPEN_FLAGS);
    if (fd === undefined) return super.openForRead(name);
    const found = this.#syscalls?.fstatx(fd);
    if (found?.type === 'file') return new ReadableFile(fd, found.size);
    fs.closeSync(fd);
    // Without a word about what it is, it gets its second look in Node's way.
    if (found === undefined) return super.openForRead(name);
    throw notRegularError(found.type);
  }

  override readSmallFile(name: Name, into: Buffer, limit: number): number | undefined {
    const fd = this.#openat(name, O_RDONLY | SAFE_OPEN_FLAGS);
    if (fd === undefined) return undefined;
    const syscalls = this.#syscalls as Syscalls;
    try {
      const found = syscalls.fstatx(fd);
      if (found?.type !== 'file' || found.size === 0 || found.size > Math.min(limit, into.length)) return undefined;
      return syscalls.read(fd, into, found.size) === found.size ? found.size : undefined;
    } finally {
      syscalls.close(fd);
    }
  }

  override list(all = false): Entry[] {
    if (!this.#listable) return [...this.listBatches(all)].flat();
    this.#assertOpen();
    this.#listable = false;
    let found = this.#syscalls?.getdents(this.fd);
    if (found === undefined) return super.list(all);
    const entries: Entry[] = [];
    for (; found.length > 0; found = this.#readOn(this.fd)) entries.push(...this.#shown(found, all));
    return entries;
  }

  override *listBatches(all = false): Generator<Entry[], void, undefined> {
    this.#assertOpen();
    const own = this.#listable;
    this.#listable = false;
    const fd = own ? this.fd : this.#openat('.', O_RDONLY | O_DIRECTORY);
    try {
      let found = fd === undefined ? undefined : this.#syscalls?.getdents(fd);
      // Where the first read fails already, Node lists all of it, or says why that cannot be done.
      if (fd === undefined || found === undefined) yield super.list(all);
      else {
        while (found.length > 0) {
          yield this.#shown(found, all);
          // The number of a closed descriptor may be another folder's by now.
          if (own) this.#assertOpen();
          found = this.#readOn(fd);
        }
      }
    } finally {
      if (fd !== undefined && !own) fs.closeSync(fd);
    }
  }

  /** What comes next in an opened directory, of which there was something to read before. */
  #readOn(fd: number): RawEntry[] {
    const found = this.#syscalls?.getdents(fd);
    if (found !== undefined) return found;
    if (fs.fstatSync(fd).nlink === 0) throw new RingfenceError('not_found', {});
    throw new RingfenceError('io_error', { errno: 'EIO' });
  }

  #shown(found: readonly RawEntry[], all: boolean): Entry[] {
    const entries: Entry[] = [];
    for (const entry of found) {
      if (!all && isReservedName(entry.name)) continue;
      const type = entry.type ?? this.statLite(entry.raw)?.type;
      if (type !== undefined) entries.push(entry.type === undefined ? { ...entry, type } : entry);
    }
    return entries;
  }

  /** One name, opened by the kernel in one step. Undefined where Node has to do it, or has to say why it cannot be done. */
  #openat(name: Name, flags: number): number | undefined {
    this.#assertOpen();
    assertSingleName(name);
    return this.#syscalls?.openatUnconfined(this.fd, name, flags);
  }

  override holdOpen(name: Name): Disposable | undefined {
    const at = this.pathUnconfined(name);
    let fd: number;
    try {
      fd = fs.openSync(at, O_PATH | O_NOFOLLOW);
    } catch {
      return undefined;
    }
    return { [Symbol.dispose]: () => fs.close(fd, () => {}) };
  }

  override renameNoReplace(name: Name, to: Dir, toName: Name): void {
    this.#assertOpen();
    assertSingleName(name);
    assertSingleName(toName);
    // What did not work in one step (a name in the way, a filesystem that cannot) fails or works in the other way too.
    const { fd } = this;
    const done =
      to instanceof DescriptorDir && this.#syscalls?.renameNoReplaceUnconfined(fd, name, to.fd, toName) === true;
    if (!done) super.renameNoReplace(name, to, toName);
  }

  override statLite(name: Name): StatLite | undefined {
    this.#assertOpen();
    assertSingleName(name);
    const found = typeof name === 'string' ? this.#syscalls?.statxUnconfined(this.fd, name) : undefined;
    return found ?? super.statLite(name);
  }

  override exchange(name: Name, other: Name): boolean {
    this.#assertOpen();
    assertSingleName(name);
    assertSingleName(other);
    return this.#syscalls?.exchangeUnconfined(this.fd, name, other) === true;
  }

  hostPath(): HostPath {
    this.#assertOpen();
    return fs.readlinkSync(`${descriptors()}${this.fd}`) as HostPath;
  }

  [Symbol.dispose](): void {
    if (!this.#owned || this.#closed) return;
    this.#closed = true;
    fs.closeSync(this.fd);
  }

  /** The number of a closed descriptor soon belongs to another folder, perhaps in another root. */
  #assertOpen(): void {
    if (this.#closed) throw new Error('the directory is closed');
  }
}

/** Found out once: a process keeps its number. */
let known: string | undefined;

/** Where /proc shows our descriptors. `/proc/self` would do, but it is a link, and following it each time is felt. */
function descriptors(): string {
  known ??= `/proc/${fs.readlinkSync('/proc/self')}/fd/`;
  return known;
}
