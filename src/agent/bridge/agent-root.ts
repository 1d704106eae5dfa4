import { RingfenceError } from '../../errors.ts';
import { type EntryType, FenceError, isFenceError, parseCallerPath, toForwardSlashes } from '../../fence/index.ts';
import { FileError } from '../../files/errors.ts';
import { byCodePoint } from '../../runtime/code-point-order.ts';
import type { PathInfo } from '../listing-entry.ts';
import { toMilliseconds } from '../mtime.ts';
import type { Sample } from '../sample.ts';
import type { FileRead, FilesystemBridge } from './filesystem-bridge.ts';

/** An entry of a folder. What nobody told is left out. */
export interface AgentEntry {
  readonly name: string;
  readonly type: EntryType;
  readonly size?: number;
  readonly modified?: Date;
}

/** A file, or a folder with all in it. The names lead to each from the folder. */
export type Fetched =
  | { readonly bytes: Buffer }
  | {
      readonly folders: readonly (readonly string[])[];
      readonly files: readonly { readonly names: readonly string[]; readonly bytes: Buffer }[];
      /** Links and special files. */
      readonly skipped: readonly string[];
    };

export interface AgentRootParts {
  readonly name: string;
  readonly bridge: FilesystemBridge;
  /** Asks the client; undefined for one that cannot be asked. */
  readonly sample: Sample | undefined;
  readonly signal: AbortSignal;
}

/**
 * Files of the client's side as a root, for the time of one call. Paths are as in any root: a leading slash is its top,
 * which shows no more than the way to what is allowed. Nothing is asked for that is not. What fails says where.
 */
export class AgentRoot {
  readonly name: string;
  readonly #bridge: FilesystemBridge;
  readonly #ask: Pick<AgentRootParts, 'sample' | 'signal'>;

  constructor({ name, bridge, sample, signal }: AgentRootParts) {
    this.name = name;
    this.#bridge = bridge;
    this.#ask = { sample, signal };
  }

  /** A whole file. A folder is `is_directory`. */
  read(raw: string): Promise<FileRead> {
    return this.located(raw, async () => {
      if (this.#waysFrom(raw) !== undefined) throw new FenceError('is_directory', {});
      return this.#read(belowTop(raw));
    });
  }

  /** The entries of a folder, by code point. A file is `not_directory`. */
  list(raw: string): Promise<AgentEntry[]> {
    return this.located(raw, async () => {
      const entries = this.#waysFrom(raw) ?? (await this.#list(belowTop(raw), false));
      return entries.map(describe).sort((a, b) => byCodePoint(a.name, b.name));
    });
  }

  /** What is known of a file or folder; if that is nothing, the folder above it is listed. */
  stat(raw: string): Promise<AgentEntry> {
    return this.located(raw, async () => {
      const path = belowTop(raw);
      if (this.#waysFrom(raw) !== undefined) return { name: nameOf(path), type: 'directory' };
      return describe(this.#bridge.info(path) ?? (await this.#findOut(path)));
    });
  }

  /** A file, or a folder with all that is in it, which together may be no more than the cache can hold. */
  fetch(raw: string): Promise<Fetched> {
    return this.located(raw, async () => {
      const ways = this.#waysFrom(raw);
      if (ways !== undefined) return this.#tree(ways, raw);
      const path = belowTop(raw);
      try {
        return { bytes: (await this.#read(path)).bytes };
      } catch (error) {
        if (!isFenceError(error, 'is_directory')) throw error;
      }
      return this.#tree(await this.#list(path, true), raw);
    });
  }

  /** Runs work on a path so that whatever fails in it says which path and root it was about, as the caller gave it. */
  async located<T>(raw: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof RingfenceError && error.root === undefined) {
        error.path = raw;
        error.root = this.name;
      }
      throw error;
    }
  }

  async #read(path: string): Promise<FileRead> {
    if (this.#bridge.info(path)?.type === 'directory') throw new FenceError('is_directory', {});
    return this.#bridge.readBytes(path, this.#ask);
  }

  async #list(path: string, recursive: boolean): Promise<readonly PathInfo[]> {
    if (this.#bridge.info(path)?.type === 'file') throw new FenceError('not_directory', {});
    return this.#bridge.listDirectory(path, { ...this.#ask, recursive });
  }

  async #findOut(path: string): Promise<PathInfo> {
    const { segments } = parseCallerPath(toForwardSlashes(path));
    const above = segments.slice(0, -1);
    if (this.#bridge.policy.allows(above)) {
      const entries = await this.#list(above.join('/') || '.', false);
      const found = entries.find(({ name }) => name === segments.at(-1));
      if (found === undefined) throw new FenceError('not_found', {});
      return found;
    }
    // Allowed by itself, so that only it can be asked for.
    const name = nameOf(path);
    if (looksLikeFile(name)) return { name, path, type: 'file', size: (await this.#read(path)).bytes.length };
    await this.#list(path, false);
    return { name, path, type: 'directory' };
  }

  async #tree(entries: readonly PathInfo[], raw: string): Promise<Fetched> {
    const limit = this.#bridge.cache.maxBytes;
    const folders: string[][] = [];
    const files: { names: string[]; bytes: Buffer }[] = [];
    const skipped: string[] = [];
    let total = 0;
    const walk = async (inside: readonly PathInfo[], above: readonly string[]): Promise<void> => {
      for (const { name, path, type, children } of inside) {
        const names = [...above, name];
        if (type === 'directory') {
          folders.push(names);
          await walk(children ?? (await this.#list(path, true)), names);
        } else if (type === 'file') {
          const { bytes } = await this.located(`${raw.replace(/\/+$/, '')}/${names.join('/')}`, () => this.#read(path));
          total += bytes.length;
          // More than fits would be asked for again on every run of the call, and never be there all at once.
          if (total > limit) throw new FileError('too_large', { size: total, limit });
          files.push({ names, bytes });
        } else {
          skipped.push(names.join('/'));
        }
      }
    };
    await walk(entries, []);
    return { folders, files, skipped };
  }

  /** The next names on the way to what is allowed, from a folder that is not itself; undefined from anywhere else. */
  #waysFrom(raw: string): PathInfo[] | undefined {
    const here = belowTop(raw)
      .split(/[\\/]/)
      .filter((name) => name !== '' && name !== '.');
    if (here.includes('..') || this.#bridge.policy.allows(here)) return undefined;
    const ways = new Map<string, PathInfo>();
    for (const allowed of this.#bridge.policy.allowed) {
      const names = allowed.split('/');
      const name = names[here.length];
      if (name === undefined || !here.every((each, i) => each === names[i])) continue;
      const isLast = names.length === here.length + 1;
      const path = [...here, name].join('/');
      const isFile = isLast && (this.#bridge.info(path)?.type ?? (looksLikeFile(name) ? 'file' : '')) === 'file';
      ways.set(name, { name, path, type: isFile ? 'file' : 'directory' });
    }
    return ways.size === 0 ? undefined : [...ways.values()];
  }
}

/** A leading slash is the top of the root, not of the other machine. */
function belowTop(raw: string): string {
  return raw.replace(/^\/+/, '') || '.';
}

function nameOf(path: string): string {
  return parseCallerPath(toForwardSlashes(path)).segments.at(-1) ?? '.';
}

/** A guess, for what is allowed by itself and was never listed. */
function looksLikeFile(name: string): boolean {
  return /[^.]\.\w+$/.test(name);
}

function describe({ name, type, size, mtime }: PathInfo): AgentEntry {
  return {
    name,
    type,
    ...(size !== undefined && { size }),
    ...(mtime !== undefined && { modified: new Date(toMilliseconds(mtime)) }),
  };
}
