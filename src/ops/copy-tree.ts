import path from 'node:path';
import { isCode, RingfenceError } from '../errors.ts';
import { type CallerPath, type Dir, type Entry, type Location, type Name, type Root } from '../fence/index.ts';
import type { Control } from './control.ts';
import { copyFile } from './copy-file.ts';

export interface TreeJob {
  readonly source: { readonly root: Root; readonly path: CallerPath; readonly dir: Dir };
  readonly options: { readonly durable: boolean; readonly overwrite?: boolean };
  /** Recreate every link as it is, as a move must, instead of looking where it leads. */
  readonly linksAsTheyAre?: boolean;
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
  return { bytes: walk.bytes, skipped: walk.skipped };
}

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
    for (const entry of from.list()) {
      await this.#job.pause();
      const inner = [...names, entry.name];
      if (entry.type === 'directory') await this.#subfolder(from, into, entry.raw, inner);
      else if (entry.type === 'file') await this.#file(from, into, entry.raw);
      else if (entry.type === 'symlink') await this.#link(from, into, entry, inner);
      else this.#skip(inner);
    }
    this.#open.pop();
    const mode = from.lstat('.')?.mode;
    if (mode !== undefined) into.chmod('.', mode & 0o777);
  }

  async #subfolder(from: Dir, into: Dir, name: Name, names: readonly string[], as: Name = name): Promise<void> {
    using source = from.openDir(name);
    try {
      into.mkdir(as, 0o700);
    } catch (error) {
      if (!isCode(error, 'already_exists')) throw error;
    }
    using made = into.openDir(as);
    await this.folder(source, made, names);
  }

  async #file(from: Dir, into: Dir, name: Name, as: Name = name): Promise<void> {
    using source = from.openFile(name);
    const place = { dir: into, name: as, stats: into.lstat(as) };
    this.bytes += await copyFile(source, place, this.#job.options, this.#job.control);
    this.#job.control.progress(this.bytes);
  }

  async #link(from: Dir, into: Dir, entry: Entry, names: readonly string[]): Promise<void> {
    const text = from.readlink(entry.raw);
    if (this.#job.linksAsTheyAre) return this.#symlink(into, entry.raw, text);
    using target = this.#follow(names);
    if (target === undefined) return this.#skip(names);
    const parent = target.dir.whereabouts();
    const place = target.name === '.' ? parent : path.join(parent, target.name);
    if (place === this.#top || place.startsWith(this.#top + path.sep)) {
      return this.#symlink(into, entry.raw, this.#staysInside(text, names) ? text : this.#relative(place, names));
    }
    if (target.stats?.isFile()) return this.#file(target.dir, into, target.name, entry.raw);
    const endless = this.#open.some((open) => open === place || open.startsWith(place + path.sep));
    if (!target.stats?.isDirectory() || endless) return this.#skip(names);
    return this.#subfolder(target.dir, into, target.name, names, entry.raw);
  }

  /** Where a link of the tree leads, if it stays inside the root and the tree is still where it was. */
  #follow(names: readonly string[]): Location | undefined {
    const { root, path } = this.#job.source;
    try {
      return root.locate({ raw: path.raw, segments: [...path.segments, ...names] }, { follow: true });
    } catch (error) {
      if (isCode(error, 'outside_root', 'link_loop', 'not_found', 'not_directory', 'permission_denied')) return undefined;
      throw error;
    }
  }

  #staysInside(target: string, names: readonly string[]): boolean {
    return !path.isAbsolute(target) && !path.join(...names, '..', target).split(path.sep).includes('..');
  }

  #relative(place: string, names: readonly string[]): string {
    return path.relative(path.join(this.#top, ...names, '..'), place) || '.';
  }

  #symlink(into: Dir, name: Name, target: string): void {
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
    if (this.#job.linksAsTheyAre) throw new RingfenceError('special_file', {}, { path: names.join('/') });
    this.skipped.push(names.join('/'));
  }
}
