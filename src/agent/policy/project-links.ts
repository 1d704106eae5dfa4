import { type Backend, type Dir, isFenceError, Root } from '../../fence/index.ts';

interface ResolvedPath {
  /** The names from the project root down once all links are followed. */
  readonly segments: readonly string[];
  readonly exists: boolean;
}

/**
 * Where paths of a project on this machine really lead. Opened for one operation and closed after it, so that nothing
 * holds on to a project that was moved or made anew. It says what is true now; a link made later is not seen.
 */
export class ProjectLinks implements Disposable {
  readonly #root: Root;
  readonly #known = new Map<string, ResolvedPath>();
  #last: { readonly path: string; readonly dir: Dir } | undefined;

  private constructor(root: Root) {
    this.#root = root;
  }

  /** Undefined if the project does not exist. Throws a system error if it is not a readable folder. */
  static open(projectRoot: string, backend: Backend): ProjectLinks | undefined {
    try {
      return new ProjectLinks(Root.open('project', projectRoot, backend));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** Raises `outside_root` for a link that leaves the project, dangling or not, and `link_loop` for a circle. */
  resolve(segments: readonly string[]): ResolvedPath {
    const name = segments.at(-1);
    if (name === undefined) return { segments, exists: true };
    const key = segments.join('/');
    const known = this.#known.get(key) ?? this.#enter(this.resolve(segments.slice(0, -1)), name, key);
    this.#known.set(key, known);
    return known;
  }

  /** One name below a folder that has no link left in it, so that the way the fence reports is the real one. */
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

  /** The folder that was opened last stays open: the names of a listing come folder by folder. */
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
