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
  withLocationSync,
} from '../../fence/index.ts';
import { byCodePoint } from '../../runtime/code-point-order.ts';
import type { OperationContext } from '../../runtime/operation-context.ts';
import { isBrokenLinkError } from '../broken-link.ts';
import { replaceLink } from '../write/replace-link.ts';
import { type CopyFileOptions, copyFile } from './copy-file.ts';
import { isWithin } from './is-within.ts';

/** An open folder, and where it was found. */
export interface OpenTree {
  readonly root: Root;
  readonly path: CallerPath;
  readonly dir: Dir;
}

export interface CopyTreeJob {
  readonly source: OpenTree;
  readonly options: CopyFileOptions;
  /** Recreate every link as it is, as a move must, instead of looking where it leads. */
  readonly linksAsTheyAre?: boolean;
  /** The folder that is copied into was there before, so it keeps its mode, as folders in it do that were. */
  readonly merge?: boolean;
  readonly context: OperationContext;
  pause(): Promise<void> | undefined;
}

export interface CopyTreeResult {
  readonly bytes: number;
  readonly skipped: readonly string[];
}

/**
 * Copies what is in a folder into another, entering both sides by descriptor. A link whose target is in the copied
 * tree stays a link, one that leads elsewhere inside the root becomes a copy of what it leads to, and an outward one
 * is skipped, as special files are. Failed reads name the source; whatever else fails is about the destination, which
 * is for the caller to name.
 */
export async function copyTree(job: CopyTreeJob, into: Dir): Promise<CopyTreeResult> {
  const walk = new TreeCopier(job);
  await walk.folder(job.source.dir, into, []);
  if (!job.merge) walk.copyMode(job.source.dir, into, []);
  return { bytes: walk.bytes, skipped: walk.skipped.sort(byCodePoint) };
}

/** An entry to copy: what it is called in an open folder, and what it is to be called in another. */
interface CopyStep {
  readonly from: Dir;
  readonly name: Name;
  readonly into: Dir;
  readonly as: Name;
  /** The way to it from the top of the tree. */
  readonly names: readonly string[];
}

class TreeCopier {
  bytes = 0;
  readonly skipped: string[] = [];
  #files = 0;
  readonly #job: CopyTreeJob;
  readonly #top: string;
  /** Where the folders being copied right now are on the host: a link back to one of them would never end. */
  readonly #open: string[] = [];
  /** For one file: its progress counts on from the files before it. */
  readonly #fileContext: OperationContext;

  constructor(job: CopyTreeJob) {
    this.#job = job;
    const { context } = job;
    this.#fileContext = {
      signal: context.signal,
      scheduler: context.scheduler,
      progress: (done) => this.#progress(done),
    };
    this.#top = job.source.dir.hostPath();
  }

  async folder(from: Dir, into: Dir, names: readonly string[]): Promise<void> {
    this.#open.push(from.hostPath());
    for (const { name, raw, type } of this.#reading(names, () => from.list())) {
      const wait = this.#job.pause();
      if (wait !== undefined) await wait;
      const step = { from, name: raw, into, as: raw, names: [...names, name] };
      if (type === 'directory') await this.#subfolder(step);
      else if (type === 'file') await this.#file(step);
      else if (type === 'symlink') await this.#link(step);
      else this.#skip(step.names);
    }
    this.#open.pop();
  }

  /** Last of all, since the mode may forbid to put anything in. */
  copyMode(from: Dir, into: Dir, names: readonly string[]): void {
    const stats = this.#reading(names, () => from.lstat('.'));
    if (stats !== undefined) into.chmod('.', stats.mode & (this.#job.options.asMoved ? keptBits(stats, into) : 0o777));
  }

  async #subfolder({ from, name, into, as, names }: CopyStep): Promise<void> {
    using source = this.#reading(names, () => from.openDir(name));
    const made = makeFolder(into, as);
    using inner = into.openDir(as);
    await this.folder(source, inner, names);
    if (made) this.copyMode(source, inner, names);
  }

  async #file({ from, name, into, as, names }: CopyStep): Promise<void> {
    using file = this.#reading(names, () => from.openFile(name));
    const { root } = this.#job.source;
    const place = { dir: into, name: as, stats: into.lstat(as) };
    this.bytes += await copyFile({ file, root, path: this.#path(names) }, place, this.#job.options, this.#fileContext);
    this.#files += 1;
    this.#progress(0);
  }

  /** A file counts as its bytes and one more, so that empty ones are seen to be copied as well. */
  #progress(bytesOfFile: number): void {
    this.#job.context.progress?.(this.#files + this.bytes + bytesOfFile);
  }

  async #link(step: CopyStep): Promise<void> {
    const { from, name, names } = step;
    if (this.#job.linksAsTheyAre) {
      const exact = this.#reading(names, () => from.readlinkBytes(name));
      return this.#symlink(step, exact);
    }
    // A name that is not UTF-8 cannot be part of a path that is resolved.
    if (typeof name !== 'string') return this.#skip(names);
    using target = this.#follow(names);
    if (target === undefined) return this.#skip(names);
    const text = this.#reading(names, () => from.readlink(name));
    const place = path.join(target.dir.hostPath(), target.name);
    if (place === this.#top || isWithin(this.#top, place)) {
      return this.#symlink(step, this.#staysInside(text, names) ? text : this.#relative(place, names));
    }
    const there = { ...step, from: target.dir, name: target.name };
    if (target.stats?.isFile()) return await this.#file(there);
    const endless = this.#open.some((open) => open === place || isWithin(place, open));
    if (!target.stats?.isDirectory() || endless) return this.#skip(names);
    return await this.#subfolder(there);
  }

  /** Where a link of the tree leads, if it stays inside the root and the tree is still where it was. */
  #follow(names: readonly string[]): Location | undefined {
    const { root, path } = this.#job.source;
    try {
      return root.locate({ raw: path.raw, segments: [...path.segments, ...names] }, { follow: true });
    } catch (error) {
      if (isFenceError(error, 'outside_root') || isBrokenLinkError(error)) return undefined;
      throw error;
    }
  }

  /** Whether a link's text means in the copy what it means here. Below a link that was followed it may not. */
  #staysInside(target: string, names: readonly string[]): boolean {
    if (this.#open.at(-1) !== path.join(this.#top, ...names, '..')) return false;
    return (
      !path.isAbsolute(target) &&
      !path
        .join(...names, '..', target)
        .split(path.sep)
        .includes('..')
    );
  }

  #relative(place: string, names: readonly string[]): string {
    return path.relative(path.join(this.#top, ...names, '..'), place) || '.';
  }

  #symlink({ into, as }: CopyStep, target: Name): void {
    replaceLink({ dir: into, name: as, stats: into.lstat(as) }, target, this.#job.options);
  }

  #skip(names: readonly string[]): void {
    if (this.#job.linksAsTheyAre) {
      const root = this.#job.source.root.name;
      throw new FenceError('special_file', {}, { path: this.#path(names).raw, root });
    }
    this.skipped.push(names.join('/'));
  }

  /** Runs what reads the source, so that its failure is not taken for one of the destination. */
  #reading<T>(names: readonly string[], read: () => T): T {
    return withLocationSync(this.#job.source.root, this.#path(names), read);
  }

  #path(names: readonly string[]): { raw: string } {
    return { raw: path.posix.join(this.#job.source.path.raw, ...names) };
  }
}

/** The mode bits that a moved folder keeps: those that lend its owner's rights only if it still has that owner. */
function keptBits(before: Stats, into: Dir): number {
  const now = into.lstat('.');
  return now?.uid === before.uid && now.gid === before.gid ? 0o7777 : 0o1777;
}

/** Makes a folder unless something is there already. Returns whether it did. */
function makeFolder(dir: Dir, name: Name): boolean {
  try {
    dir.mkdir(name, 0o700);
    return true;
  } catch (error) {
    if (!isFenceError(error, 'already_exists')) throw error;
    return false;
  }
}
