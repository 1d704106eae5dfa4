import type { Stats } from 'node:fs';
import path from 'node:path';
import {
  type CallerPath,
  type Dir,
  FenceError,
  isFenceError,
  type Location,
  type Name,
  type Root,
  withLocation,
  withLocationSync,
} from '../../fence/index.ts';
import { type Change, pathInside } from '../../history/index.ts';
import type { OperationContext } from '../../runtime/operation-context.ts';
import { byCodePoint } from '../../runtime/unicode.ts';
import { leasesOf } from '../lease/leases.ts';
import { ChangeAttempt } from '../lease/retry-change.ts';
import { withLease } from '../lease/with-lease.ts';
import { isBrokenLinkError } from '../links.ts';
import type { ReplaceTarget } from '../write/replace-file.ts';
import { replaceLink } from '../write/replace-link.ts';
import { type CopyFileOptions, copyFile } from './copy-file.ts';
import { flushTree } from './flush-tree.ts';
import { isWithin } from './host-paths.ts';
import { openLatest } from './open-latest.ts';
import { type RetriedEntry, retryEntry } from './retry-entry.ts';

/** An open folder, with its root and path. */
export interface OpenTree {
  readonly root: Root;
  readonly path: CallerPath;
  readonly dir: Dir;
}

/** What to copy, and how. */
export interface CopyTreeJob {
  readonly source: OpenTree;
  readonly options: CopyFileOptions & { readonly durable?: boolean };
  /** Copy every link literally, as a move must, without resolving it. Special files then raise `special_file`. */
  readonly linksAsTheyAre?: boolean;
  /** Set if the destination folder existed before. It keeps its mode then, as existing folders in it always do. */
  readonly merge?: MergeTarget;
  readonly context: OperationContext;
  /** Yields to other work if the time slice is over; see `yieldPoint`. */
  pause(): Promise<void> | undefined;
}

/** An existing folder that a copy is merged into. */
interface MergeTarget {
  readonly root: Root;
  /** The path of the folder from the top of its root. */
  readonly path: string;
  /** The change in the root's history that keeps what is replaced; undefined if nothing is kept. */
  readonly change: Change | undefined;
}

/** What `copyTree` did. */
export interface CopyTreeResult {
  /** The number of bytes of file content copied. */
  readonly bytes: number;
  /** What was not copied, relative to the source folder, sorted by code point. */
  readonly skipped: readonly string[];
}

/**
 * Copies the content of a folder into another, entering every level of both sides by descriptor. A link to something in
 * the copied tree stays a link, a link to elsewhere inside the root becomes a copy of its target, and a link that leads
 * outside or nowhere is skipped, as special files are. With `durable`, everything that was made is on disk at the end,
 * except for the name of the destination folder itself.
 *
 * Raises what `copyFile` raises, and the reason of an aborted signal. A failed read carries the path of the source; the
 * caller must add the path of the destination to all other errors.
 */
export async function copyTree(job: CopyTreeJob, into: Dir): Promise<CopyTreeResult> {
  const copier = new TreeCopier(job);
  await copier.folder({ from: job.source.dir, into, names: [], path: job.merge?.path ?? '' });
  await copier.finish({ from: job.source.dir, into, names: [], made: !job.merge });
  if (!job.merge) await copier.flush(into);
  return { bytes: copier.bytes, skipped: copier.skipped.sort(byCodePoint) };
}

/** A folder whose content is copied. */
interface CopiedFolder {
  readonly from: Dir;
  readonly into: Dir;
  readonly names: readonly string[];
  /** Whether this copy made the destination folder. */
  readonly made: boolean;
}

/** The number of files from which flushing the whole file system ahead pays off. */
const MANY_FILES = 16;

/** Where an entry is copied to. */
type CopyEnd = Pick<CopyStep, 'into' | 'as' | 'path'>;

/** An entry to copy: its name in an open source folder, and its new name in an open destination folder. */
interface CopyStep {
  readonly from: Dir;
  readonly name: Name;
  readonly into: Dir;
  readonly as: Name;
  /** The names that lead to the entry from the top of the tree. */
  readonly names: readonly string[];
  /** The path of the copy from the top of its root, for the history. */
  readonly path: string;
}

class TreeCopier {
  bytes = 0;
  readonly skipped: string[] = [];
  #files = 0;
  readonly #job: CopyTreeJob;
  readonly #options: CopyTreeJob['options'];
  readonly #top: string;
  /** The host paths of the folders being copied, from the top down: following a link to one of them would never end. */
  readonly #ancestors: string[] = [];
  /** The context for copying one file. Its progress is added to that of the files before. */
  readonly #fileContext: OperationContext;
  readonly #durable: boolean;
  /** Whether no lease could be had, so that no more of them are waited for. */
  #withoutLeases = false;

  constructor(job: CopyTreeJob) {
    this.#job = job;
    const { context, merge, options } = job;
    // What is in a new folder was made by an attempt whose failure did not tell.
    this.#options = merge === undefined ? { ...options, overwrite: true } : options;
    this.#durable = options.durable ?? true;
    this.#fileContext = {
      signal: context.signal,
      scheduler: context.scheduler,
      progress: (done) => this.#progress(done),
    };
    this.#top = job.source.dir.hostPath();
  }

  async folder({ from, into, names, path }: Omit<CopiedFolder, 'made'> & { readonly path: string }): Promise<void> {
    this.#ancestors.push(from.hostPath());
    for (const { name, raw, type } of await this.#retrying({ from, name: '.', names }, () => from.list())) {
      const wait = this.#job.pause();
      if (wait !== undefined) await wait;
      const step = { from, name: raw, into, as: raw, names: [...names, name], path: pathInside(path, raw) };
      try {
        if (type === 'directory') await this.#subfolder(step);
        else if (type === 'file') await this.#file(step);
        else if (type === 'symlink') await this.#link(step);
        else this.#skip(step.names);
      } catch (error) {
        // The rules of the destination leave it out of a copy; a move has been checked.
        if (this.#job.linksAsTheyAre || !isFenceError(error, 'not_allowed')) throw error;
        this.#skip(step.names);
      }
    }
    this.#ancestors.pop();
  }

  /** Copies the mode of a new folder, after its content, since a read-only mode would forbid adding entries. */
  async finish({ from, into, names, made }: CopiedFolder): Promise<void> {
    if (made) {
      const stats = this.#reading(names, () => from.lstat('.'));
      if (stats === undefined) return;
      // Later, it could not be listed any more.
      if (!isReadableByOwner(stats)) await this.flush(into);
      into.chmod('.', stats.mode & (this.#options.asMoved ? keptBits(stats, into) : 0o777));
    }
    if (this.#durable && this.#job.merge) await into.sync();
  }

  /** Flushes a new folder and everything in it, with `durable`. */
  async flush(into: Dir): Promise<void> {
    if (!this.#durable) return;
    if (this.#files >= MANY_FILES) await into.syncFilesystem();
    await flushTree(into, this.#job.context);
  }

  /**
   * How a file is flushed: in an existing folder before it appears, in a new one together with all others, which is
   * faster, unless it cannot be opened again for that.
   */
  #durabilityOf(stats: Stats): 'content' | false {
    return this.#durable && (this.#job.merge || !isReadableByOwner(stats)) ? 'content' : false;
  }

  async #subfolder({ from, name, into, as, names, path }: CopyStep): Promise<void> {
    using source = await this.#retrying({ from, name, names }, () => from.openDir(name));
    const at = this.#retried({ from: into, name: as });
    const made = await retryEntry(at, () => this.#makeFolder({ into, as, path }));
    using inner = await retryEntry(at, () => into.openDir(as));
    await this.folder({ from: source, into: inner, names, path });
    await this.finish({ from: source, into: inner, names, made });
  }

  async #file(step: CopyStep): Promise<void> {
    const { from, name, names } = step;
    const { root } = this.#job.source;
    this.bytes += await this.#replacing(step, async ({ lease, onLanded }) => {
      // Each attempt opens it again, because another machine may have replaced it since.
      const path = { ...this.#path(names), segments: [...this.#job.source.path.segments, ...names] };
      using file = await openLatest({ root, path, dir: from, name, signal: this.#job.context.signal });
      const durable = this.#durabilityOf(file.stats);
      return await copyFile(
        { file, root, path },
        this.#target(step),
        { ...this.#options, durable, change: this.#job.merge?.change, lease, onLanded },
        this.#fileContext,
      );
    });
    this.#files += 1;
    this.#progress(0);
  }

  /** Reports progress. Each file counts as its bytes plus one, so that copying empty files shows too. */
  #progress(bytesOfFile: number): void {
    this.#job.context.progress?.(this.#files + this.bytes + bytesOfFile);
  }

  async #link(step: CopyStep): Promise<void> {
    const { from, name, names } = step;
    if (this.#job.linksAsTheyAre) {
      const exact = await this.#retrying(step, () => from.readlinkBytes(name));
      return this.#symlink(step, exact);
    }
    // A caller path consists of UTF-8 names, so a link whose own name is not UTF-8 cannot be resolved.
    if (typeof name !== 'string') return this.#skip(names);
    using target = await this.#follow(step);
    if (target === undefined) return this.#skip(names);
    const linkText = await this.#retrying(step, () => from.readlink(name));
    const hostPath = path.join(target.dir.hostPath(), target.name);
    if (hostPath === this.#top || isWithin(this.#top, hostPath)) {
      return this.#symlink(step, this.#staysInside(linkText, names) ? linkText : this.#relative(hostPath, names));
    }
    const targetStep = { ...step, from: target.dir, name: target.name };
    if (target.stats?.isFile()) return await this.#file(targetStep);
    const endless = this.#ancestors.some((ancestor) => ancestor === hostPath || isWithin(hostPath, ancestor));
    if (!target.stats?.isDirectory() || endless) return this.#skip(names);
    return await this.#subfolder(targetStep);
  }

  /** Resolves a link of the tree; undefined if it leads outside the root or nowhere. */
  async #follow(step: CopyStep): Promise<Location | undefined> {
    const { root, path } = this.#job.source;
    const at = { raw: path.raw, segments: [...path.segments, ...step.names] };
    try {
      return await this.#retrying(step, () => root.locate(at, { follow: true }));
    } catch (error) {
      if (isFenceError(error, 'outside_root') || isBrokenLinkError(error)) return undefined;
      throw error;
    }
  }

  /**
   * Reports whether a link's text leads to the same entry in the copy as in the source: it is relative, does not climb
   * above the top of the tree, and is not below a link that was replaced by a copy of its target.
   */
  #staysInside(target: string, names: readonly string[]): boolean {
    if (this.#ancestors.at(-1) !== path.join(this.#top, ...names, '..')) return false;
    return (
      !path.isAbsolute(target) &&
      !path
        .join(...names, '..', target)
        .split(path.sep)
        .includes('..')
    );
  }

  /** Returns the text of a link at `names` that leads to a path inside the tree. */
  #relative(hostPath: string, names: readonly string[]): string {
    return path.relative(path.join(this.#top, ...names, '..'), hostPath) || '.';
  }

  #symlink(step: CopyStep, linkText: Name): Promise<void> {
    const change = this.#job.merge?.change;
    return this.#replacing(step, ({ lease, onLanded }) =>
      replaceLink(this.#target(step), linkText, { ...this.#options, change, lease, onLanded }),
    );
  }

  /**
   * Runs work that puts an entry into the destination. What exists there is replaced under a lease, so that no edit of
   * another server is lost; without one where none can be had, because it is replaced anyway.
   */
  async #replacing<T>(step: CopyStep, work: (attempt: ChangeAttempt) => Promise<T>): Promise<T> {
    const { into, as, path } = step;
    const { merge, context } = this.#job;
    const leases = merge && leasesOf(merge.root);
    const withoutLease = (): Promise<T> => retryEntry(this.#retried(step), () => work(new ChangeAttempt()));
    if (merge === undefined || leases === undefined || this.#withoutLeases) return await withoutLease();
    // A machine may not see yet what another has made.
    if (!leases.isShared(merge.root) && !into.has(as)) return await withoutLease();
    const locate = () => ({ dir: into, name: as, [Symbol.dispose]: () => {} });
    const file = { root: merge.root, names: [path], locate };
    return withLease(file, { signal: context.signal, optional: true }, (attempt) => {
      this.#withoutLeases = attempt.lease === undefined;
      return work(attempt);
    });
  }

  /**
   * Creates a folder unless an entry with that name exists, and reports whether this copy did: in a new folder, an
   * attempt whose failure did not tell.
   */
  #makeFolder({ into, as, path }: CopyEnd): boolean {
    const change = this.#job.merge?.change;
    if (change !== undefined && into.has(as)) return false;
    const step = change?.onMake(path);
    try {
      into.mkdir(as, 0o700);
      step?.done(into.lstat(as));
      return true;
    } catch (error) {
      step?.cancel();
      if (!isFenceError(error, 'already_exists')) throw error;
      return this.#job.merge === undefined;
    }
  }

  #target({ into, as, path }: CopyEnd): ReplaceTarget {
    return { dir: into, name: as, stats: into.lstat(as), path };
  }

  /** Records an entry that is not copied; a move must not lose it, and raises `special_file`. */
  #skip(names: readonly string[]): void {
    if (this.#job.linksAsTheyAre) {
      const root = this.#job.source.root.name;
      throw new FenceError('special_file', {}, { path: this.#path(names).raw, root });
    }
    this.skipped.push(names.join('/'));
  }

  /** Runs an operation on an entry of the source that another machine may be replacing, and again if that fails it. */
  #retrying<T>(
    { from, name, names }: Pick<CopyStep, 'from' | 'name' | 'names'>,
    work: () => T | Promise<T>,
  ): Promise<T> {
    const at = this.#retried({ from, name });
    return withLocation(at.root, this.#path(names), () => retryEntry(at, work));
  }

  #retried({ from, name }: Pick<CopyStep, 'from' | 'name'>): RetriedEntry {
    const { source, context } = this.#job;
    return { root: source.root, dir: from, name, signal: context.signal };
  }

  /** Runs an operation on the source, so that its errors carry the path of the source. */
  #reading<T>(names: readonly string[], read: () => T): T {
    return withLocationSync(this.#job.source.root, this.#path(names), read);
  }

  #path(names: readonly string[]): { raw: string } {
    return { raw: path.posix.join(this.#job.source.path.raw, ...names) };
  }
}

/** Reports whether the mode lets the owner read the file, or list the folder and open what is in it. */
function isReadableByOwner(stats: Stats): boolean {
  const needed = stats.isDirectory() ? 0o500 : 0o400;
  return (stats.mode & needed) === needed;
}

/** Returns a mask of the mode bits that a moved folder keeps: set-ID bits only if it has the same owner and group. */
function keptBits(before: Stats, into: Dir): number {
  const now = into.lstat('.');
  return now?.uid === before.uid && now.gid === before.gid ? 0o7777 : 0o1777;
}
