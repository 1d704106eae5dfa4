import path from 'node:path';
import { isCode, RingfenceError } from '../errors.ts';
import {
  type CallerPath,
  type Dir,
  type Entry,
  fromSystem,
  type Location,
  type Name,
  type Root,
} from '../fence/index.ts';
import type { Control } from './control.ts';
import { type CopyFileOptions, copyFile } from './copy-file.ts';

export interface TreeJob {
  readonly source: { readonly root: Root; readonly path: CallerPath; readonly dir: Dir };
  readonly options: CopyFileOptions;
  /** Recreate every link as it is, as a move must, instead of looking where it leads. */
  readonly linksAsTheyAre?: boolean;
  /** The folder that is copied into was there before, so it keeps its mode, as folders in it do that were. */
  readonly merge?: boolean;
  readonly control: Control;
  pause(): Promise<void> | undefined;
}

export interface TreeCopy {
  readonly bytes: number;
  readonly skipped: readonly string[];
}

/**
 * Copies what is in a folder into another, entering both sides by descriptor. A link whose target is in the copied
 * tree stays a link, one that leads elsewhere inside the root becomes a copy of what it leads to, and an outward one
 * is skipped, as special files are.
 */
export async function copyTree(job: TreeJob, into: Dir): Promise<TreeCopy> {
  const walk = new TreeWalk(job);
  await walk.folder(job.source.dir, into, []);
  if (!job.merge) walk.copyMode(job.source.dir, into);
  return { bytes: walk.bytes, skipped: walk.skipped };
}

/** What resolving a link may fail with that makes it one to skip. */
const LEADS_NOWHERE = [
  'outside_root',
  'link_loop',
  'not_found',
  'not_directory',
  'permission_denied',
  'name_too_long',
  'invalid_path',
] as const;

class TreeWalk {
  bytes = 0;
  readonly skipped: string[] = [];
  readonly #job: TreeJob;
  readonly #top: string;
  /** Where the folders being copied right now are on the host: a link back to one of them would never end. */
  readonly #open: string[] = [];

  constructor(job: TreeJob) {
    this.#job = job;
    this.#top = job.source.dir.whereabouts();
  }

  async folder(from: Dir, into: Dir, names: readonly string[]): Promise<void> {
    this.#open.push(from.whereabouts());
    for (const entry of this.#reading(names, () => from.list())) {
      await this.#job.pause();
      const inner = [...names, entry.name];
      if (entry.type === 'directory') await this.#subfolder(from, into, entry.raw, inner);
      else if (entry.type === 'file') await this.#file(from, into, entry.raw, inner);
      else if (entry.type === 'symlink') await this.#link(from, into, entry, inner);
      else this.#skip(inner);
    }
    this.#open.pop();
  }

  /** Last of all, since the mode may forbid to put anything in. */
  copyMode(from: Dir, into: Dir): void {
    const mode = from.lstat('.')?.mode;
    if (mode !== undefined) into.chmod('.', mode & 0o777);
  }

  async #subfolder(from: Dir, into: Dir, name: Name, names: readonly string[], as: Name = name): Promise<void> {
    using source = this.#reading(names, () => from.openDir(name));
    const made = makeFolder(into, as);
    using inner = into.openDir(as);
    await this.folder(source, inner, names);
    if (made) this.copyMode(source, inner);
  }

  async #file(from: Dir, into: Dir, name: Name, names: readonly string[], as: Name = name): Promise<void> {
    using source = this.#reading(names, () => from.openFile(name));
    const place = { dir: into, name: as, stats: into.lstat(as) };
    const { control, options } = this.#job;
    const progress = (done: number) => control.progress(this.bytes + done);
    this.bytes += await copyFile(source, place, options, { ...control, progress });
    control.progress(this.bytes);
  }

  async #link(from: Dir, into: Dir, entry: Entry, names: readonly string[]): Promise<void> {
    if (this.#job.linksAsTheyAre) return this.#symlink(into, entry.raw, from.readlinkExactly(entry.raw));
    // A name that is not UTF-8 cannot be part of a path that is resolved.
    if (typeof entry.raw !== 'string') return this.#skip(names);
    using target = this.#follow(names);
    if (target === undefined) return this.#skip(names);
    const text = this.#reading(names, () => from.readlink(entry.raw));
    const parent = target.dir.whereabouts();
    const place = target.name === '.' ? parent : path.join(parent, target.name);
    if (place === this.#top || place.startsWith(this.#top + path.sep)) {
      return this.#symlink(into, entry.raw, this.#staysInside(text, names) ? text : this.#relative(place, names));
    }
    if (target.stats?.isFile()) return await this.#file(target.dir, into, target.name, names, entry.raw);
    const endless = this.#open.some((open) => open === place || open.startsWith(place + path.sep));
    if (!target.stats?.isDirectory() || endless) return this.#skip(names);
    return await this.#subfolder(target.dir, into, target.name, names, entry.raw);
  }

  /** Where a link of the tree leads, if it stays inside the root and the tree is still where it was. */
  #follow(names: readonly string[]): Location | undefined {
    const { root, path } = this.#job.source;
    try {
      return root.locate({ raw: path.raw, segments: [...path.segments, ...names] }, { follow: true });
    } catch (error) {
      if (isCode(error, ...LEADS_NOWHERE)) return undefined;
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

  #symlink(into: Dir, name: Name, target: Name): void {
    try {
      into.symlink(target, name);
    } catch (error) {
      if (!isCode(error, 'already_exists')) throw error;
      if (this.#job.options.overwrite === false || into.lstat(name)?.isDirectory()) throw error;
      into.unlink(name);
      into.symlink(target, name);
    }
  }

  #skip(names: readonly string[]): void {
    if (this.#job.linksAsTheyAre) throw new RingfenceError('special_file', {}).locate(...this.#where(names));
    this.skipped.push(names.join('/'));
  }

  /** Runs what reads the source, so that its failure is not taken for one of the destination. */
  #reading<T>(names: readonly string[], read: () => T): T {
    try {
      return read();
    } catch (error) {
      throw fromSystem(error, ...this.#where(names));
    }
  }

  #where(names: readonly string[]): [path: string, root: string] {
    const { root, path: source } = this.#job.source;
    return [path.posix.join(source.raw, ...names), root.name];
  }
}

/** Makes a folder unless something is there already. Returns whether it did. */
function makeFolder(dir: Dir, name: Name): boolean {
  try {
    dir.mkdir(name, 0o700);
    return true;
  } catch (error) {
    if (!isCode(error, 'already_exists')) throw error;
    return false;
  }
}
