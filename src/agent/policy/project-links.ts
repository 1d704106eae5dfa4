import { type Backend, type Dir, type EntryType, isFenceError, Root } from '../../fence/index.ts';

/** After so many entries of one folder, the folder is listed instead, which takes a tenth of the time. */
const MANY_ENTRIES = 100;
/** A folder of more entries is not listed. */
const MAX_LISTED = 50_000;

interface ResolvedPath {
  /** The path segments below the project root after following all links. */
  readonly segments: readonly string[];
  readonly exists: boolean;
}

/**
 * Resolves the symbolic links of a project on this machine. Open it for one operation and dispose it afterwards;
 * otherwise it would keep the descriptor of a project folder that was since replaced. Does not notice links created
 * after a path was resolved.
 */
export class ProjectLinks implements Disposable {
  readonly #root: Root;
  readonly #known = new Map<string, ResolvedPath>();
  #last: ProjectFolder | undefined;

  private constructor(root: Root) {
    this.#root = root;
  }

  /**
   * Opens a project folder. Returns undefined if it does not exist. Throws a system error if it is not a readable
   * folder.
   */
  static open(projectRoot: string, backend: Backend): ProjectLinks | undefined {
    try {
      return new ProjectLinks(Root.open('project', projectRoot, backend));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  /**
   * Follows the links in a path. A missing path resolves to itself with `exists: false`. Raises `outside_root` for a
   * link that leaves the project, dangling or not, and `link_loop`.
   */
  resolve(segments: readonly string[]): ResolvedPath {
    const name = segments.at(-1);
    if (name === undefined) return { segments, exists: true };
    const key = segments.join('/');
    const known = this.#known.get(key) ?? this.#enter(this.resolve(segments.slice(0, -1)), name, key);
    this.#known.set(key, known);
    return known;
  }

  /**
   * Resolves one name in a folder whose own path is already resolved, so that the path reported by `locate` is free of
   * links.
   */
  #enter(above: ResolvedPath, name: string, raw: string): ResolvedPath {
    const segments = [...above.segments, name];
    if (!above.exists) return { segments, exists: false };
    try {
      const type = this.#open(above.segments).typeOf(name);
      if (type !== 'symlink') return { segments, exists: type !== undefined };
      using found = this.#root.locate({ raw, segments }, { follow: true });
      return { segments: found.path.split('/').filter(Boolean), exists: found.stats !== undefined };
    } catch (error) {
      if (isFenceError(error, 'not_found', 'not_directory')) return { segments, exists: false };
      throw error;
    }
  }

  /** Keeps the last folder open, because the entries of a listing are checked folder by folder. */
  #open(segments: readonly string[]): ProjectFolder {
    const path = segments.join('/');
    if (this.#last?.path !== path) {
      this.#last?.[Symbol.dispose]();
      this.#last = undefined;
      this.#last = new ProjectFolder(path, this.#root.openDir({ raw: path, segments }));
    }
    return this.#last;
  }

  [Symbol.dispose](): void {
    this.#last?.[Symbol.dispose]();
    this.#root[Symbol.dispose]();
  }
}

/** A folder of the project whose entries are looked up one by one. */
class ProjectFolder implements Disposable {
  readonly path: string;
  readonly #dir: Dir;
  #lookups = 0;
  #types: ReadonlyMap<string, EntryType> | undefined;

  constructor(path: string, dir: Dir) {
    this.path = path;
    this.#dir = dir;
  }

  /** Returns the type of an entry, undefined if there is none. */
  typeOf(name: string): EntryType | undefined {
    this.#lookups += 1;
    if (this.#lookups === MANY_ENTRIES) this.#types = typesIn(this.#dir);
    return this.#types === undefined ? this.#dir.statLite(name)?.type : this.#types.get(name);
  }

  [Symbol.dispose](): void {
    this.#dir[Symbol.dispose]();
  }
}

function typesIn(dir: Dir): ReadonlyMap<string, EntryType> | undefined {
  const types = new Map<string, EntryType>();
  for (const batch of dir.listBatches(true)) {
    for (const { name, type } of batch) types.set(name, type);
    if (types.size > MAX_LISTED) return undefined;
  }
  return types;
}
