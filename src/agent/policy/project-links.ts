import { type Backend, type Dir, isFenceError, Root } from '../../fence/index.ts';

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
  #last: { readonly path: string; readonly dir: Dir } | undefined;

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
      const stats = this.#open(above.segments).lstat(name);
      if (!stats?.isSymbolicLink()) return { segments, exists: stats !== undefined };
      using found = this.#root.locate({ raw, segments }, { follow: true });
      return { segments: found.path.split('/').filter(Boolean), exists: found.stats !== undefined };
    } catch (error) {
      if (isFenceError(error, 'not_found', 'not_directory')) return { segments, exists: false };
      throw error;
    }
  }

  /** Keeps the last folder open, because the entries of a listing are checked folder by folder. */
  #open(segments: readonly string[]): Dir {
    const path = segments.join('/');
    if (this.#last?.path !== path) {
      this.#last?.dir[Symbol.dispose]();
      this.#last = undefined;
      this.#last = { path, dir: this.#root.openDir({ raw: path, segments }) };
    }
    return this.#last.dir;
  }

  [Symbol.dispose](): void {
    this.#last?.dir[Symbol.dispose]();
    this.#root[Symbol.dispose]();
  }
}
