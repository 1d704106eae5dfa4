import { foldName } from './fold-name.ts';
import { IgnoreFile, MAX_RULES } from './gitignore.ts';

/** The patterns that match an entry: as its name is written, and as a file system that folds names compares it. */
export interface RuleMatch {
  readonly exact: string | undefined;
  readonly folded: string | undefined;
}

/** Where an entry is: the names of the folders above it from the top of the root, as written and folded. */
export interface FolderNames {
  readonly names: readonly string[];
  readonly folded: readonly string[];
}

/** Patterns in the syntax of gitignore, relative to the top of a root. The last one that matches an entry decides. */
export class PathRules {
  readonly #patterns: readonly string[];
  readonly #exact: IgnoreFile;
  readonly #folded: IgnoreFile;

  constructor(patterns: readonly string[]) {
    this.#patterns = patterns;
    this.#exact = new IgnoreFile(patterns.join('\n'));
    this.#folded = new IgnoreFile(patterns.map(foldName).join('\n'));
  }

  /** Reports whether there is no pattern at all. */
  get isEmpty(): boolean {
    return this.#patterns.length === 0;
  }

  /**
   * Returns what matches an entry itself; undefined if nothing does. That a folder above it matches is not considered.
   */
  match(folder: FolderNames, name: string, isFolder: boolean): RuleMatch | undefined {
    const exact = this.#match(this.#exact, folder.names, name, isFolder);
    const folded = this.#match(this.#folded, folder.folded, foldName(name), isFolder);
    return exact === undefined && folded === undefined ? undefined : { exact, folded };
  }

  /** Reports whether what matches below a folder may depend on the names of the folder and those above it. */
  dependsOn({ names, folded }: FolderNames): boolean {
    return this.#exact.dependsOn(names) || this.#folded.dependsOn(folded);
  }

  #match(rules: IgnoreFile, folder: readonly string[], name: string, isFolder: boolean): string | undefined {
    const rule = rules.decidingRule(folder, name, isFolder);
    return rule === undefined || rule.negated ? undefined : this.#patterns[rule.order];
  }
}

/** Says what is wrong with the first pattern that would have no effect; undefined if all have one. */
export function patternsProblem(patterns: readonly string[]): { index: number; problem: string } | undefined {
  let rules = 0;
  for (const [index, pattern] of patterns.entries()) {
    const { size } = new IgnoreFile(pattern);
    rules += size;
    const problem = size === 0 ? patternProblem(pattern) : undefined;
    if (problem !== undefined) return { index, problem };
    if (/[\n\r\0]/.test(pattern)) return { index, problem: 'has a line break or a null byte' };
    if (rules >= MAX_RULES) return { index, problem: 'is one too many: braces count once for each alternative' };
  }
  return undefined;
}

function patternProblem(pattern: string): string {
  if (pattern.trim() === '' || pattern.trim() === '!') return 'is empty';
  if (pattern.startsWith('#')) return 'is a comment; write \\# for a name that starts with #';
  return 'is not a valid gitignore pattern';
}

/** Returns the pattern that matches one path alone, given by its names from the top of the root. */
export function patternOf(names: readonly string[]): string {
  return `/${names.map((name) => name.replace(/[\\*?[\]{}! #]/g, '\\$&')).join('/')}`;
}
