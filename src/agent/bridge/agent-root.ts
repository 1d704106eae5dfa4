import { RingfenceError } from '../../errors.ts';
import { type EntryType, FenceError, isFenceError, parseCallerPath, toForwardSlashes } from '../../fence/index.ts';
import { FileError } from '../../files/errors.ts';
import { byCodePoint } from '../../runtime/unicode.ts';
import type { PathInfo } from '../listing-entry.ts';
import { toMilliseconds } from '../mtime.ts';
import type { Sample } from '../sample.ts';
import type { FileRead, FilesystemBridge } from './filesystem-bridge.ts';

/** An entry of a folder on the client's side. Facts that the client did not send are absent. */
export interface AgentEntry {
  readonly name: string;
  readonly type: EntryType;
  readonly size?: number;
  readonly modified?: Date;
}

/**
 * The result of `AgentRoot.fetch`: a file, or a folder with its contents. `names` are the path segments below that
 * folder.
 */
export type FetchedEntry =
  | { readonly bytes: Buffer }
  | {
      readonly folders: readonly (readonly string[])[];
      readonly files: readonly { readonly names: readonly string[]; readonly bytes: Buffer }[];
      /** The paths of links and special files, which are not fetched. */
      readonly skipped: readonly string[];
    };

/** What an `AgentRoot` is made of. */
export interface AgentRootParts {
  readonly name: string;
  readonly bridge: FilesystemBridge;
  /** Asks the client; undefined for a client without sampling support. */
  readonly sample: Sample | undefined;
  readonly signal: AbortSignal;
}

/**
 * Presents client-side files as a root, for the duration of one call. A leading slash in a path means the top of the
 * root. Folders above the allowed paths list only the names that lead to an allowed path. Never asks for a path that
 * the policy does not allow. Every `RingfenceError` carries the root's name and the path as the caller gave it.
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

  /**
   * Reads a whole file, from the cache or from the client. Raises `is_directory` for a folder, and the codes of
   * `FilesystemBridge.readBytes`.
   */
  read(raw: string): Promise<FileRead> {
    return this.withLocation(raw, async () => {
      if (this.#ancestorEntries(raw) !== undefined) throw new FenceError('is_directory', {});
      return this.#read(stripLeadingSlashes(raw));
    });
  }

  /**
   * Lists a folder, sorted by code point. Raises `not_directory` for a file, and the codes of
   * `FilesystemBridge.listDirectory`.
   */
  list(raw: string): Promise<AgentEntry[]> {
    return this.withLocation(raw, async () => {
      const entries = this.#ancestorEntries(raw) ?? (await this.#list(stripLeadingSlashes(raw), false));
      return entries.map(describe).sort((a, b) => byCodePoint(a.name, b.name));
    });
  }

  /**
   * Describes a file or folder from the cache. If it is not cached, asks for a listing of the parent folder, or for the
   * path itself if the policy does not allow the parent. Raises `not_found` and the codes of `read` and `list`.
   */
  stat(raw: string): Promise<AgentEntry> {
    return this.withLocation(raw, async () => {
      const path = stripLeadingSlashes(raw);
      if (this.#ancestorEntries(raw) !== undefined) return { name: nameOf(path), type: 'directory' };
      return describe(this.#bridge.info(path) ?? (await this.#statByAsking(path)));
    });
  }

  /**
   * Fetches a file, or a folder with its contents. Raises `too_large` if they exceed the cache size, and the codes of
   * `read` and `list`.
   */
  fetch(raw: string): Promise<FetchedEntry> {
    return this.withLocation(raw, async () => {
      const entries = this.#ancestorEntries(raw);
      if (entries !== undefined) return this.#tree(entries, raw);
      const path = stripLeadingSlashes(raw);
      try {
        return { bytes: (await this.#read(path)).bytes };
      } catch (error) {
        if (!isFenceError(error, 'is_directory')) throw error;
      }
      return this.#tree(await this.#list(path, true), raw);
    });
  }

  /** Runs `work` and adds this root and the caller's path to any `RingfenceError` it raises. */
  async withLocation<T>(raw: string, work: () => Promise<T>): Promise<T> {
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

  async #statByAsking(path: string): Promise<PathInfo> {
    const { segments } = parseCallerPath(toForwardSlashes(path));
    const above = segments.slice(0, -1);
    if (this.#bridge.policy.allows(above)) {
      const entries = await this.#list(above.join('/') || '.', false);
      const found = entries.find(({ name }) => name === segments.at(-1));
      if (found === undefined) throw new FenceError('not_found', {});
      return found;
    }
    // The policy allows this path but not its parent, so only the path itself can be asked for.
    const name = nameOf(path);
    if (looksLikeFile(name)) return { name, path, type: 'file', size: (await this.#read(path)).bytes.length };
    await this.#list(path, false);
    return { name, path, type: 'directory' };
  }

  async #tree(entries: readonly PathInfo[], raw: string): Promise<FetchedEntry> {
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
          const { bytes } = await this.withLocation(`${raw.replace(/\/+$/, '')}/${names.join('/')}`, () =>
            this.#read(path),
          );
          total += bytes.length;
          // Files beyond the cache size would evict each other, and a call that is run again would ask for them without
          // end.
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

  /**
   * Returns the names leading to allowed paths, for a folder above one that is not itself allowed; undefined for any
   * other path.
   */
  #ancestorEntries(raw: string): PathInfo[] | undefined {
    const here = stripLeadingSlashes(raw)
      .split(/[\\/]/)
      .filter((name) => name !== '' && name !== '.');
    if (here.includes('..') || this.#bridge.policy.allows(here)) return undefined;
    const entries = new Map<string, PathInfo>();
    for (const allowed of this.#bridge.policy.allowed) {
      const names = allowed.split('/');
      const name = names[here.length];
      if (name === undefined || !here.every((each, i) => each === names[i])) continue;
      const isLast = names.length === here.length + 1;
      const path = [...here, name].join('/');
      const isFile = isLast && (this.#bridge.info(path)?.type ?? (looksLikeFile(name) ? 'file' : '')) === 'file';
      entries.set(name, { name, path, type: isFile ? 'file' : 'directory' });
    }
    return entries.size === 0 ? undefined : [...entries.values()];
  }
}

/** A leading slash means the top of the root, not of the client's file system. */
function stripLeadingSlashes(raw: string): string {
  return raw.replace(/^\/+/, '') || '.';
}

function nameOf(path: string): string {
  return parseCallerPath(toForwardSlashes(path)).segments.at(-1) ?? '.';
}

/** Guesses by the extension whether an allowed path that was never listed is a file. */
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
