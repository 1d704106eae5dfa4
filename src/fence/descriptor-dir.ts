import fs from 'node:fs';
import type { HostPath } from './caller-path.ts';
import { closeQuietly } from './close-quietly.ts';
import { type CheckedTree, Dir, type HeldEntry, SAFE_OPEN_FLAGS, type SharedDir } from './dir.ts';
import { assertSingleName, type Entry, type Name } from './entry.ts';
import { errnoOf, fromSystem } from './errno.ts';
import { FenceError } from './errors.ts';
import { foldName } from './guard/fold-name.ts';
import type { Place } from './guard/place.ts';
import { notRegularError, ReadableFile } from './open-file.ts';
import type { RawEntry, StatLite, Syscalls } from './syscalls.ts';

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = fs.constants;

/**
 * An open(2) flag that Node's constants lack. The descriptor only marks a place in the tree, and needs no read
 * permission.
 */
export const O_PATH = 0o10000000;

interface Options {
  /** Where the directory is in its root. */
  readonly place: Place;
  /** Undefined for the `procfd` backend: then everything goes through Node. */
  readonly syscalls: Syscalls | undefined;
  /**
   * The descriptor of the root, to find out whether the directory has been moved. Undefined if nothing is changed in
   * it.
   */
  readonly top: number | undefined;
  /**
   * Whether disposing of the `Dir` closes the descriptor; by default true. False for a root's, which outlives the
   * `Dir`.
   */
  readonly owned?: boolean;
  /** Whether the descriptor was just opened for reading, so that the first listing can use it. */
  readonly listable?: boolean;
}

/**
 * A directory held by its descriptor, for the `openat2` and `procfd` backends (Linux). `/proc/PID/fd/N/name` is looked
 * up from the very directory that was opened, wherever it has been moved since, so there is no path left that anyone
 * could swap.
 */
export class DescriptorDir extends Dir {
  readonly fd: number;
  readonly #base: string;
  readonly #syscalls: Syscalls | undefined;
  readonly #top: number | undefined;
  readonly #owned: boolean;
  /** Whether the descriptor is open for reading and unread, so that the first listing can use it. */
  #listable: boolean;
  #closed = false;

  constructor(fd: number, { place, syscalls, top, owned = true, listable = false }: Options) {
    super(place);
    this.fd = fd;
    this.#base = `${descriptorFolder()}${fd}/`;
    this.#syscalls = syscalls;
    this.#top = top;
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

  protected override isAt(names: readonly string[]): boolean {
    // The root's own directory has no names that could change.
    if (this.#top === undefined || names.length === 0) return true;
    const top = hostPathOf(this.#top).replace(/\/$/, '');
    const expected = [top, ...names].join('/') || '/';
    const now = this.hostPath();
    // The kernel may show another spelling of a name that the file system takes for the same.
    return now === expected || foldName(now) === foldName(expected);
  }

  protected openInner(name: Name, place: Place): DescriptorDir {
    const flags = O_PATH | O_DIRECTORY | O_NOFOLLOW;
    try {
      // SAFETY: one name, and O_NOFOLLOW.
      const fd = this.#openat(name, flags) ?? fs.openSync(this.pathUnconfined(name), flags);
      return new DescriptorDir(fd, { place, syscalls: this.#syscalls, top: this.#top });
    } catch (error) {
      throw fromSystem(error);
    }
  }

  override openDirForListing(name: Name): Dir {
    this.assertSeen(name, true);
    const fd = this.#openat(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    // A directory that may be entered but not read opens only with O_PATH.
    if (fd === undefined) return this.openDir(name);
    const place = this.placeOf(name);
    return new DescriptorDir(fd, { place, syscalls: this.#syscalls, top: this.#top, listable: true });
  }

  override openForRead(name: Name): ReadableFile {
    this.assertSeen(name);
    const fd = this.#openat(name, O_RDONLY | SAFE_OPEN_FLAGS);
    if (fd === undefined) return super.openForRead(name);
    const found = this.#syscalls?.fstatx(fd);
    if (found?.type === 'file') return new ReadableFile(fd, found.size);
    closeQuietly(fd);
    // fstatx does not say why it failed, so Node tries again.
    if (found === undefined) return super.openForRead(name);
    throw notRegularError(found.type);
  }

  override readSmallFile(name: Name, into: Buffer, limit: number): number | undefined {
    if (this.denial(name) !== undefined) return undefined;
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

  override list(includeHidden = false): Entry[] {
    const entries: Entry[] = [];
    // Not `push(...batch)`: what Node lists is one batch, and may have more entries than a call can have arguments.
    for (const batch of this.listBatches(includeHidden)) for (const entry of batch) entries.push(entry);
    return entries;
  }

  override *listBatches(includeHidden = false): Generator<Entry[], void, undefined> {
    this.#assertOpen();
    const isOwn = this.#listable;
    this.#listable = false;
    const fd = isOwn ? this.fd : this.#openat('.', O_RDONLY | O_DIRECTORY);
    try {
      let found = fd === undefined ? undefined : this.#syscalls?.getdents(fd);
      // Where the first read fails already, Node lists the directory, or says why it cannot.
      if (fd === undefined || found === undefined) yield super.list(includeHidden);
      else {
        while (found.length > 0) {
          yield this.#toEntries(found, includeHidden);
          // The number of a closed descriptor may be another directory's by now.
          if (isOwn) this.#assertOpen();
          found = this.#nextBatch(fd);
        }
      }
    } finally {
      if (fd !== undefined && !isOwn) closeQuietly(fd);
    }
  }

  /** Reads the next batch of an open directory after the first one has succeeded. */
  #nextBatch(fd: number): RawEntry[] {
    const found = this.#syscalls?.getdents(fd);
    if (found !== undefined) return found;
    if (fs.fstatSync(fd).nlink === 0) throw new FenceError('not_found', {});
    throw new FenceError('io_error', { errno: 'EIO' });
  }

  #toEntries(found: readonly RawEntry[], includeHidden: boolean): Entry[] {
    const entries: Entry[] = [];
    for (const entry of found) {
      const type = entry.type ?? this.#statLite(entry.raw)?.type;
      if (type === undefined) continue;
      const found = entry.type === undefined ? { ...entry, type } : entry;
      if (includeHidden || !this.isHidden(found)) entries.push(found);
    }
    return entries;
  }

  /** Opens one name with openat(2). Undefined if it did not open: then Node tries again and reports the reason. */
  #openat(name: Name, flags: number): number | undefined {
    this.#assertOpen();
    assertSingleName(name);
    // SAFETY: one name, and every caller passes O_NOFOLLOW, except for `.`, which is no link.
    return this.#syscalls?.openatUnconfined(this.fd, name, flags);
  }

  override holdOpen(name: Name, { freeLater = true } = {}): HeldEntry | undefined {
    this.assertSeen(name);
    // SAFETY: one name, and O_NOFOLLOW.
    const hostPath = this.pathUnconfined(name);
    let fd: number;
    try {
      fd = fs.openSync(hostPath, O_PATH | O_NOFOLLOW);
    } catch {
      return undefined;
    }
    return {
      stat: () => fs.fstatSync(fd),
      [Symbol.dispose]: () => (freeLater ? fs.close(fd, () => {}) : closeQuietly(fd)),
    };
  }

  override isStored(name: Name): boolean {
    try {
      this.assertSeen(name);
      // SAFETY: one name, and O_NOFOLLOW.
      const fd = fs.openSync(this.pathUnconfined(name), O_PATH | O_NOFOLLOW);
      try {
        // Unlike most calls, statfs(2) is never answered from a cache, and needs no permission to read the file.
        fs.statfsSync(`${descriptorFolder()}${fd}`);
        return true;
      } finally {
        closeQuietly(fd);
      }
    } catch (error) {
      return !['ESTALE', 'ENOENT'].includes(errnoOf(error) ?? '');
    }
  }

  override renameNoReplace(name: Name, to: Dir, toName: Name, checked?: CheckedTree): void {
    this.assertMayMove(name, to, toName, checked);
    this.#assertOpen();
    assertSingleName(name);
    assertSingleName(toName);
    const { fd } = this;
    // SAFETY: two single names, and renameat2(2) follows no link as the last name.
    const done =
      to instanceof DescriptorDir && this.#syscalls?.renameNoReplaceUnconfined(fd, name, to.fd, toName) === true;
    // A name in the way, or a file system without RENAME_NOREPLACE: the portable way works or says why it does not.
    if (!done) super.renameNoReplace(name, to, toName, checked);
  }

  override setMtime(name: Name, mtimeNs: bigint): void {
    this.assertMayChange(name, {});
    this.#assertOpen();
    assertSingleName(name);
    // SAFETY: one name, and utimensat(2) is called with AT_SYMLINK_NOFOLLOW.
    const done = this.#syscalls?.setMtimeUnconfined(this.fd, name, mtimeNs) === true;
    // Node tries again, or says why it cannot be set.
    if (!done) super.setMtime(name, mtimeNs);
  }

  override statLite(name: Name): StatLite | undefined {
    const found = this.#statLite(name);
    return found === undefined || this.denial(name, found.type === 'directory') !== undefined ? undefined : found;
  }

  #statLite(name: Name): StatLite | undefined {
    this.#assertOpen();
    assertSingleName(name);
    // SAFETY: one name, and statx(2) is called with AT_SYMLINK_NOFOLLOW.
    const found = typeof name === 'string' ? this.#syscalls?.statxUnconfined(this.fd, name) : undefined;
    return found ?? super.statLite(name);
  }

  override has(name: Name): boolean {
    this.#assertOpen();
    assertSingleName(name);
    // SAFETY: one name, and statx(2) is called with AT_SYMLINK_NOFOLLOW.
    if (typeof name === 'string' && this.#syscalls?.isMissingUnconfined(this.fd, name) === true) return false;
    return super.has(name);
  }

  override exchange(name: Name, other: Name): boolean {
    this.assertMayChange(name, { put: true, isFolder: false });
    this.assertMayChange(other, { put: true, isFolder: false });
    this.#assertOpen();
    assertSingleName(name);
    assertSingleName(other);
    // SAFETY: two single names, and renameat2(2) follows no link as the last name.
    return this.#syscalls?.exchangeUnconfined(this.fd, name, other) === true;
  }

  override flock(): Disposable | 'busy' | undefined {
    const fd = this.#openat('.', O_RDONLY | O_DIRECTORY);
    if (fd === undefined) return undefined;
    const syscalls = this.#syscalls as Syscalls;
    const state = syscalls.flock(fd);
    // Closing releases the lock. Nobody else has the descriptor, since it is closed in child processes (O_CLOEXEC).
    if (state === 'held') {
      // What /proc/locks shows of the lock itself, it does not show in other PID namespaces.
      syscalls.markInUse(fd);
      return { [Symbol.dispose]: () => syscalls.close(fd) };
    }
    syscalls.close(fd);
    return state;
  }

  override async syncFilesystem(): Promise<void> {
    const fd = this.#openat('.', O_RDONLY | O_DIRECTORY);
    if (fd === undefined) return;
    const syscalls = this.#syscalls as Syscalls;
    try {
      await syscalls.syncfs(fd);
    } finally {
      syscalls.close(fd);
    }
  }

  override get canMarkInUse(): boolean {
    return this.#syscalls !== undefined;
  }

  protected override markFileInUse(fd: number): void {
    this.#syscalls?.markInUse(fd);
  }

  override markInUse(): Disposable | undefined {
    const fd = this.#openat('.', O_RDONLY | O_DIRECTORY);
    if (fd === undefined) return undefined;
    this.#syscalls?.markInUse(fd);
    return { [Symbol.dispose]: () => this.#syscalls?.close(fd) };
  }

  override isInUse(name: Name): boolean | undefined {
    const fd = this.#openat(name, O_RDONLY | SAFE_OPEN_FLAGS);
    if (fd === undefined) return undefined;
    const found = this.#syscalls?.isInUse(fd);
    this.#syscalls?.close(fd);
    return found;
  }

  hostPath(): HostPath {
    this.#assertOpen();
    return hostPathOf(this.fd);
  }

  [Symbol.dispose](): void {
    if (!this.#owned || this.#closed) return;
    this.#closed = true;
    closeQuietly(this.fd);
  }

  /** Throws once the directory is closed, because the kernel reuses descriptor numbers. */
  #assertOpen(): void {
    if (this.#closed) throw new Error('the directory is closed');
  }
}

/** Returns where an open file or directory is now. */
function hostPathOf(fd: number): HostPath {
  return fs.readlinkSync(`${descriptorFolder()}${fd}`) as HostPath;
}

/** Computed once: a process keeps its number. */
let folder: string | undefined;

/**
 * Returns the folder in which /proc shows our descriptors. `/proc/self` is a link, and following it with each call
 * costs time.
 */
function descriptorFolder(): string {
  folder ??= `/proc/${fs.readlinkSync('/proc/self')}/fd/`;
  return folder;
}
