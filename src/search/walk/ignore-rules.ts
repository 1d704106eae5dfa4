import { IgnoreFile, MAX_RULE_BYTES } from '../../fence/guard/gitignore.ts';
import type { CallerPath, Dir, Entry, Root } from '../../fence/index.ts';
import type { DirCache, DirNode } from './dir-cache.ts';
import { isSkippable } from './is-skippable.ts';

/** Names of rule files. A rule in any `.ignore` file counts more than one in any `.gitignore` file, as in ripgrep. */
const RULE_FILES = ['.ignore', '.gitignore'] as const;
/** Skipped by every search that keeps the rules. */
const GIT_FOLDER = '.git';

/** Maximum number of folders whose rules are kept. */
const MAX_FOLDERS = 4096;

/**
 * The rules of a file, and about how many of them every entry is compared with: all but plain names, which are looked
 * up.
 */
interface RuleFile {
  readonly rules: IgnoreFile;
  readonly compared: number;
}

/** A rule file, and the path from its folder to the folder that its rules are applied in. */
interface RuleSource {
  readonly file: RuleFile;
  readonly folder: readonly string[];
}

/** The rules that apply to the entries of one folder: for each name of rule files those that have it, nearest first. */
export class FolderRules {
  readonly #sources: readonly (readonly RuleSource[])[];
  readonly #isEmpty: boolean;
  /** Estimated number of rules that an entry is compared with. */
  readonly compared: number;

  constructor(sources: readonly (readonly RuleSource[])[]) {
    this.#sources = sources;
    this.#isEmpty = sources.every(({ length }) => length === 0);
    this.compared = sources.flat().reduce((sum, { file }) => sum + file.compared, 0);
  }

  /** Whether a search skips an entry of the folder. */
  ignores(name: string, isFolder: boolean): boolean {
    if (name === GIT_FOLDER) return true;
    if (this.#isEmpty) return false;
    for (const sources of this.#sources) {
      for (const { file, folder } of sources) {
        const verdict = file.rules.ignores(folder, name, isFolder);
        if (verdict !== undefined) return verdict;
      }
    }
    return false;
  }

  /** Returns the rules for a folder in this one, which has these rule files itself. */
  below(name: string, own: readonly (RuleFile | undefined)[]): FolderRules {
    if (this.#isEmpty && own.every((file) => file === undefined)) return this;
    return new FolderRules(
      this.#sources.map((sources, kind) => [
        ...sourceOf(own[kind]),
        ...sources.map(({ file, folder }) => ({ file, folder: [...folder, name] })),
      ]),
    );
  }
}

/**
 * The ignore rules of a tree, loaded folder by folder as a search gets there. Rule files are read through the fence:
 * those of the folders from the top of the root down, never above it. One that is a link, or cannot be read, has no
 * effect.
 *
 * Holds for one search: a rule file that changes during the search may count in either version.
 */
export class IgnoreRules {
  readonly #root: Root;
  readonly #start: CallerPath;
  readonly #folders = new Map<string, FolderRules>();

  constructor(root: Root, start: CallerPath) {
    this.#root = root;
    this.#start = start;
  }

  /** Returns the rules for the entries of a folder. `listed` are its entries, if they are known. */
  of(node: DirNode, dirs: DirCache, listed?: readonly Entry[]): FolderRules {
    const known = this.#folders.get(node.path);
    if (known !== undefined) return known;
    const own = readRules(dirs.open(node), listed);
    const rules =
      node.parent === undefined ? this.#ofStart(own) : this.of(node.parent, dirs).below(node.name.toString(), own);
    if (this.#folders.size >= MAX_FOLDERS) this.#folders.clear();
    this.#folders.set(node.path, rules);
    return rules;
  }

  #ofStart(own: readonly (RuleFile | undefined)[]): FolderRules {
    const { raw, segments } = this.#start;
    let name = '';
    let rules = new FolderRules(RULE_FILES.map(() => []));
    for (const [depth, segment] of segments.entries()) {
      using dir = this.#root.openDir({ raw, segments: segments.slice(0, depth) });
      rules = rules.below(name, readRules(dir));
      name = segment;
    }
    return rules.below(name, own);
  }
}

function sourceOf(file: RuleFile | undefined): RuleSource[] {
  return file === undefined ? [] : [{ file, folder: [] }];
}

function readRules(dir: Dir, listed?: readonly Entry[]): (RuleFile | undefined)[] {
  return RULE_FILES.map((name) => {
    try {
      const type = listed === undefined ? dir.statLite(name)?.type : listed.find((entry) => entry.name === name)?.type;
      return type === 'file' ? readRuleFile(dir, name) : undefined;
    } catch (error) {
      if (!isSkippable(error)) throw error;
      return undefined;
    }
  });
}

function readRuleFile(dir: Dir, name: string): RuleFile {
  using file = dir.openForRead(name);
  const bytes = Buffer.alloc(Math.min(file.size, MAX_RULE_BYTES));
  let length = 0;
  for (let read = -1; read !== 0 && length < bytes.length; length += read)
    read = file.readInto(bytes, { at: length, length: bytes.length - length, position: length });
  const text = bytes.toString('utf8', 0, length);
  // A rule that is cut off could rule out more than its author meant.
  const whole = file.size > MAX_RULE_BYTES ? text.slice(0, text.lastIndexOf('\n') + 1) : text;
  return { rules: new IgnoreFile(whole), compared: comparedRules(whole) };
}

/** Lines that are more than a plain name. */
const COMPARED_LINE = /^(?!#).*(?:[*?[{\\]|\/.)/;

/** Estimates how many rules of a file an entry is compared with. Each alternative in braces is one. */
function comparedRules(text: string): number {
  let rules = 0;
  for (const line of text.split('\n'))
    if (COMPARED_LINE.test(line)) rules += line.includes('{') ? line.split(',').length : 1;
  return rules;
}
