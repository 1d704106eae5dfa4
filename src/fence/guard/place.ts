import { foldName } from './fold-name.ts';
import { type FolderMove, type Guard, READ_ONLY, type Refusal } from './guard.ts';
import type { FolderNames, RuleMatch } from './path-rules.ts';

/** Another path that leads to a folder, by links. */
interface Alias {
  readonly folder: FolderNames;
  /** An entry of the folder that has another name on that path. */
  readonly entry?: { readonly name: string; readonly written: string };
}

/** Where a caller's path led, if it has links: the names that were written, and the name of the entry they led to. */
export interface WrittenPath {
  readonly names: readonly string[];
  readonly entry: string;
}

/**
 * Where an open folder is in its root, for the guard. Names are put together only if a rule asks for them: most folders
 * are listed and read without.
 */
export class Place {
  readonly #guard: Guard;
  readonly #above: Place | undefined;
  readonly #name: string;
  readonly #aliases: readonly Alias[];
  #folder: FolderNames | undefined;
  #isProvisional = false;
  /** Undefined until it is asked for. */
  #protection: Refusal | 'none' | undefined;

  private constructor(guard: Guard, above?: Place, name = '', aliases: readonly Alias[] = []) {
    this.#guard = guard;
    this.#above = above;
    this.#name = name;
    this.#aliases = aliases;
  }

  /** The top of a root. */
  static top(guard: Guard): Place {
    return new Place(guard);
  }

  /** The place of a folder that was opened by its names from the top of the root, none of them a link. */
  static at(guard: Guard, names: readonly string[]): Place {
    return names.reduce((place, name) => place.child(name), Place.top(guard));
  }

  get isReadOnly(): boolean {
    return this.#guard.isReadOnly;
  }

  get hasRules(): boolean {
    return this.#guard.hasRules;
  }

  /** The names from the top of the root to this folder. */
  get folder(): FolderNames {
    this.#folder ??= this.#above === undefined ? folderNames([]) : below(this.#above.folder, this.#name);
    return this.#folder;
  }

  /** Says which rule refuses a path, by its names from the top of the root. */
  static explain(guard: Guard, names: readonly string[], isFolder: boolean): Refusal | undefined {
    let place = Place.top(guard);
    for (const [at, name] of names.entries()) {
      const found = place.refusal(name, isFolder || at < names.length - 1);
      if (found !== undefined) return found;
      place = place.child(name);
    }
    return guard.isReadOnly ? READ_ONLY : undefined;
  }

  /** Says which rule hides a path, or a folder above it, by its names from the top of the root. */
  static explainHidden(guard: Guard, names: readonly string[], isFolder: boolean): Refusal | undefined {
    let place = Place.top(guard);
    for (const [at, name] of names.entries()) {
      const pattern = patternIn(place.denial(name, isFolder || at < names.length - 1));
      if (pattern !== undefined) return { rule: 'deny', pattern };
      place = place.child(name);
    }
    return undefined;
  }

  /** Returns the place of a folder in this one. */
  child(name: string): Place {
    const aliases = this.#aliases.map(({ folder, entry }) => ({
      folder: below(folder, entry?.name === name ? entry.written : name),
    }));
    const place = new Place(this.#guard, this, name, aliases);
    place.#isProvisional = this.#isProvisional;
    return place;
  }

  /** Whether the folder only gets this place later, and is temporary until then. */
  get isProvisional(): boolean {
    return this.#isProvisional;
  }

  /** Returns the place that a temporary folder in this one will have. */
  futureChild(name: string): Place {
    const place = this.child(name);
    place.#isProvisional = true;
    return place;
  }

  /** Whether this folder, or one above it, is about to be moved. */
  get isMoving(): boolean {
    return this.#moves().length > 0;
  }

  /**
   * Announces that this folder will be moved, until the result is disposed of. Meanwhile, nothing can be put into it
   * that may not be where it goes.
   */
  announceMove(to: Place): Disposable {
    const move: FolderMove = {
      from: this.folder.folded,
      refusal: (folders, name, isFolder) =>
        folders.reduce((place, folder) => place.child(folder), to).refusal(name, isFolder),
    };
    const { moves } = this.#guard;
    moves.add(move);
    return { [Symbol.dispose]: () => void moves.delete(move) };
  }

  /** Reports whether rules may refuse something below this folder that they allow where the folder comes from. */
  mayRefuseMoreThan(from: Place): boolean {
    return this.#guard !== from.#guard || this.#aliases.length > 0 || this.#guard.dependsOn(this.folder);
  }

  /** Why an entry may not be put here, because of where this folder is about to be moved. */
  refusalByMoves(name: string, isFolder: boolean): Refusal | undefined {
    for (const { from, refusal } of this.#moves()) {
      const found = refusal(this.folder.names.slice(from.length), name, isFolder);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #moves(): FolderMove[] {
    return [...this.#guard.moves].filter(({ from }) => from.every((name, at) => name === this.folder.folded[at]));
  }

  /** Returns the same place, reached by a path with links. Rules then also hold for the path as it was written. */
  writtenAs({ names, entry }: WrittenPath): Place {
    const written = names.at(-1);
    const alias: Alias =
      entry === '.' || written === undefined
        ? { folder: folderNames(names) }
        : { folder: folderNames(names.slice(0, -1)), entry: { name: entry, written } };
    const place = new Place(this.#guard, this.#above, this.#name, [...this.#aliases, alias]);
    place.#isProvisional = this.#isProvisional;
    return place;
  }

  /** Returns what of `deny` matches an entry. The folder itself is open, so it is not denied. */
  denial(name: string, isFolder: boolean): RuleMatch | undefined {
    return this.#match('denial', name, isFolder) ?? this.#aboveAliases('denial');
  }

  /**
   * Why the folder itself does not exist for callers, although it is open: the path to it as it was written is denied.
   */
  get ownDenial(): Refusal | undefined {
    const pattern = patternIn(this.#aboveAliases('denial'));
    return pattern === undefined ? undefined : { rule: 'deny', pattern };
  }

  /** Returns what of `protect` matches an entry, or a folder above it. */
  protection(name: string, isFolder: boolean): RuleMatch | undefined {
    const own = this.ownProtection;
    if (own !== undefined) return { exact: own.pattern, folded: own.pattern };
    return this.#match('protection', name, isFolder);
  }

  /** Returns what of `protect` is below an entry that must therefore be a folder. */
  placeholder(name: string): RuleMatch | undefined {
    return this.#match('placeholder', name, false);
  }

  /** Why an entry may not be put here, whatever the file system says about spellings of its name. */
  refusal(name: string, isFolder: boolean): Refusal | undefined {
    const denied = patternIn(this.denial(name, isFolder));
    if (denied !== undefined) return { rule: 'deny', pattern: denied };
    const kept = patternIn(this.protection(name, isFolder) ?? (isFolder ? undefined : this.placeholder(name)));
    return kept === undefined ? undefined : { rule: 'protect', pattern: kept };
  }

  /**
   * Why the folder itself may not be changed. Of the folders above it, other spellings of a protected name count, too,
   * whether the file system takes them for the same or not.
   */
  get ownProtection(): Refusal | undefined {
    this.#protection ??= this.#findProtection() ?? 'none';
    return this.#protection === 'none' ? undefined : this.#protection;
  }

  #findProtection(): Refusal | undefined {
    const pattern = patternIn(this.#above?.protection(this.#name, true) ?? this.#aboveAliases('protection'));
    return pattern === undefined ? undefined : { rule: 'protect', pattern };
  }

  /** Returns what matches a folder on the way of a path as it was written. */
  #aboveAliases(kind: 'denial' | 'protection'): RuleMatch | undefined {
    for (const { folder } of this.#aliases) {
      for (const [depth, name] of folder.names.entries()) {
        const above = { names: folder.names.slice(0, depth), folded: folder.folded.slice(0, depth) };
        const found = this.#guard[kind]({ folder: above }, name, true);
        if (found !== undefined) return found;
      }
    }
    return undefined;
  }

  #match(kind: 'denial' | 'protection' | 'placeholder', name: string, isFolder: boolean): RuleMatch | undefined {
    const found = this.#guard[kind](this, name, isFolder);
    if (found !== undefined || this.#aliases.length === 0) return found;
    for (const { folder, entry } of this.#aliases) {
      const written = entry?.name === name ? entry.written : name;
      const match = this.#guard[kind]({ folder }, written, isFolder);
      if (match !== undefined) return match;
    }
    return undefined;
  }
}

function patternIn(match: RuleMatch | undefined): string | undefined {
  return match?.exact ?? match?.folded;
}

function folderNames(names: readonly string[]): FolderNames {
  return { names, folded: names.map(foldName) };
}

function below({ names, folded }: FolderNames, name: string): FolderNames {
  return { names: [...names, name], folded: [...folded, foldName(name)] };
}
