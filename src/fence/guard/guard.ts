import { foldName } from './fold-name.ts';
import { type FolderNames, PathRules, type RuleMatch } from './path-rules.ts';

/**
 * What an operator rules out in a root, by patterns in the syntax of gitignore that are relative to the root's top. In
 * a root that has rules, `.ringfence` is denied at any depth, whatever they say.
 */
export interface GuardRules {
  /** What does not exist for any caller. */
  readonly deny: readonly string[];
  /** What may be read, but not changed, moved or removed. */
  readonly protect: readonly string[];
  /** Whether nothing at all may be changed. */
  readonly readOnly?: boolean;
}

/** What is protected unless an operator says otherwise: by these files of a repository, git runs programs. */
export const DEFAULT_PROTECT: readonly string[] = [
  '**/.git/hooks',
  '**/.git/config',
  '**/.git/modules/**/hooks',
  '**/.git/modules/**/config',
];

/** The rules of a root that nobody has set any for. */
export const DEFAULT_RULES: GuardRules = { deny: [], protect: DEFAULT_PROTECT };

/** The name that this program keeps for itself, at any depth. */
const OWN_FOLDER = '.ringfence';

/** Which rule decided that something is refused. */
export interface Refusal {
  readonly rule: 'deny' | 'protect' | 'read_only';
  readonly pattern: string;
}

/** Refuses every change in a root that is read-only. */
export const READ_ONLY: Refusal = { rule: 'read_only', pattern: '*' };

/** A folder whose names are put together when a rule asks for them. */
interface FolderPlace {
  readonly folder: FolderNames;
}

/** A folder that is about to be moved. */
export interface FolderMove {
  /** The folded names from the top of the root to the folder. */
  readonly from: readonly string[];
  /** Says which rule refuses an entry where it will be, by the names of the folders from the moved one to it. */
  refusal(folders: readonly string[], name: string, isFolder: boolean): Refusal | undefined;
}

/** Decides by names alone what a root's rules say about an entry. It never touches the disk. */
export class Guard {
  readonly isReadOnly: boolean;
  /** False for a root in which everything is allowed. */
  readonly hasRules: boolean;
  /** The folders of this root that are about to be moved. */
  readonly moves = new Set<FolderMove>();
  readonly #deny: PathRules;
  readonly #protect: PathRules;
  readonly #above: PathRules;
  readonly #deniesOwnFolderOnly: boolean;

  constructor(rules: GuardRules | undefined) {
    const { deny = [], protect = [], readOnly = false } = rules ?? {};
    this.hasRules = rules !== undefined;
    this.isReadOnly = readOnly;
    // The last pattern counts most, so no negated one shows the program's own folder.
    this.#deny = new PathRules(this.hasRules ? [...deny, OWN_FOLDER] : []);
    this.#protect = new PathRules(protect);
    this.#above = new PathRules(protect.flatMap(foldersAbove));
    this.#deniesOwnFolderOnly = deny.length === 0;
  }

  /** Returns the `deny` pattern that matches an entry itself. Folders above it are not considered. */
  denial(at: FolderPlace, name: string, isFolder: boolean): RuleMatch | undefined {
    if (!this.hasRules) return undefined;
    if (this.#deniesOwnFolderOnly) return matchOwnFolder(name);
    return this.#deny.match(at.folder, name, isFolder);
  }

  /** Returns the `protect` pattern that matches an entry itself. Folders above it are not considered. */
  protection(at: FolderPlace, name: string, isFolder: boolean): RuleMatch | undefined {
    return this.#protect.isEmpty ? undefined : this.#protect.match(at.folder, name, isFolder);
  }

  /**
   * Returns the `protect` pattern for something below an entry, if the entry is where only a folder may be put: a link
   * or file in place of `.git` would lead git to other hooks.
   */
  placeholder(at: FolderPlace, name: string): RuleMatch | undefined {
    return this.#above.isEmpty ? undefined : this.#above.match(at.folder, name, false);
  }

  /** Reports whether what the rules say about entries below a folder may depend on where it is. False never is wrong. */
  dependsOn(folder: FolderNames): boolean {
    return [this.#deny, this.#protect, this.#above].some((rules) => rules.dependsOn(folder));
  }

  /** Reports whether a path may be denied, or one of the folders above it. True may be wrong, false never is. */
  mayDeny(names: readonly string[]): boolean {
    if (!this.hasRules) return false;
    if (this.#deniesOwnFolderOnly) {
      for (const name of names) if (matchOwnFolder(name) !== undefined) return true;
      return false;
    }
    const folded = names.map(foldName);
    return names.some((name, at) => {
      const folder = { names: names.slice(0, at), folded: folded.slice(0, at) };
      const isLast = at === names.length - 1;
      return (
        this.#deny.match(folder, name, true) !== undefined ||
        (isLast && this.#deny.match(folder, name, false) !== undefined)
      );
    });
  }
}

const DOT = 46;
const LAST_ASCII = 127;

function matchOwnFolder(name: string): RuleMatch | undefined {
  // Nearly every name ends here. An invisible character may come before the dot.
  const first = name.charCodeAt(0);
  if ((first !== DOT && first <= LAST_ASCII) || foldName(name) !== OWN_FOLDER) return undefined;
  return { exact: name === OWN_FOLDER ? OWN_FOLDER : undefined, folded: OWN_FOLDER };
}

/** Returns patterns for the folders above what a pattern matches, as far as their own names are fixed. */
function foldersAbove(pattern: string): string[] {
  if (pattern.startsWith('!') || pattern.includes('{')) return [];
  const parts = pattern.replace(/^\//, '').replace(/\/$/, '').split('/');
  return parts.slice(0, -1).flatMap((part, at) => {
    if (/[\\*?[\]]/.test(part)) return [];
    return [`${at === 0 ? '/' : ''}${parts.slice(0, at + 1).join('/')}`];
  });
}
