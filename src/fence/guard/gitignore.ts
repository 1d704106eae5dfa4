/** A rule file is read up to this size, and up to this number of rules. What follows has no effect. */
export const MAX_RULE_BYTES = 256 * 1024;
export const MAX_RULES = 5_000;
/** A longer rule has no effect: parsing one with many braces or brackets takes time beyond its length. */
const MAX_RULE_LENGTH = 4_096;
/** A rule whose braces stand for more alternatives has no effect. */
const MAX_ALTERNATIVES = 200;
/**
 * Maximum number of characters of all rules with their braces expanded. What follows has no effect. A rule with
 * wildcards inside a name counts several times: comparing a name with it can take as many steps as the product of their
 * lengths.
 */
const MAX_EXPANDED = MAX_RULE_BYTES;
const WILDCARD_WEIGHT = 4;

/** Tests one name of a path. Undefined stands for `**`, any number of names. */
type Segment = ((name: string) => boolean) | undefined;

/** A rule that decides about an entry. */
interface DecidingRule {
  /** Number of the rule in its file. The last rule that matches decides. */
  readonly order: number;
  readonly negated: boolean;
}

interface Rule extends DecidingRule {
  readonly foldersOnly: boolean;
  /** A rule without a slash looks at the last name of a path, any other at the whole path. */
  readonly anywhere: boolean;
  readonly segments: readonly Segment[];
}

/**
 * The rules of a `.gitignore` or `.ignore` file (https://git-scm.com/docs/gitignore), read as ripgrep reads them:
 * `{a,b}` stands for alternatives, and a rule that cannot be parsed has no effect. Names are compared byte by byte, so
 * `?` is one byte, as in git.
 *
 * Matching takes time bounded by the product of the lengths of rule and path, whatever the rule: rule files are written
 * by anyone who can write to the tree.
 */
export class IgnoreFile {
  /** Rules that are a plain name, by that name. First rule first. */
  readonly #names = new Map<string, Rule[]>();
  /** All other rules. Last rule first. */
  readonly #globs: Rule[] = [];
  #count = 0;
  readonly #room: Room = { left: MAX_EXPANDED };

  constructor(text: string) {
    const lines = text.replace(/^\ufeff/, '').split(/\r?\n/);
    for (const [order, line] of lines.entries()) this.#add(line, order);
    this.#globs.reverse();
  }

  /**
   * Returns whether the rules ignore an entry: true, false if they say that it is not to be ignored, undefined if they
   * say nothing. `folder` is the path from the folder of the rule file to that of the entry.
   */
  ignores(folder: readonly string[], name: string, isFolder: boolean): boolean | undefined {
    const decides = this.decidingRule(folder, name, isFolder);
    return decides && !decides.negated;
  }

  /**
   * Returns the rule that decides about an entry, by its line from 0; undefined if none matches. `folder` is as for
   * `ignores`.
   */
  decidingRule(folder: readonly string[], name: string, isFolder: boolean): DecidingRule | undefined {
    let decides = this.#names.get(name)?.findLast((rule) => isFolder || !rule.foldersOnly);
    for (const rule of this.#globs) {
      if (decides !== undefined && decides.order > rule.order) break;
      if ((isFolder || !rule.foldersOnly) && matches(rule, folder, name)) {
        decides = rule;
        break;
      }
    }
    return decides;
  }

  /**
   * Reports whether what the rules say about entries below a folder may depend on its path, given by its names. False
   * is certain: then all of them look at names below the folder alone.
   */
  dependsOn(folder: readonly string[]): boolean {
    return this.#globs.some(({ anywhere, negated, segments: [first, second] }) => {
      if (anywhere) return false;
      if (negated || first !== undefined || second === undefined) return true;
      return folder.some((name) => second(name));
    });
  }

  /** The number of rules that have an effect. Each alternative in braces is one. */
  get size(): number {
    return [...this.#names.values()].reduce((sum, rules) => sum + rules.length, this.#globs.length);
  }

  #add(line: string, order: number): void {
    const parsed = this.#count < MAX_RULES ? parseLine(line) : undefined;
    if (parsed === undefined) return;
    const { glob, ...flags } = parsed;
    for (const alternative of expandBraces(glob, this.#room) ?? []) {
      this.#count += 1;
      this.#room.left -= INNER_WILDCARD.test(alternative) ? WILDCARD_WEIGHT * alternative.length : 0;
      if (this.#count > MAX_RULES || this.#room.left < 0) return;
      const parts = splitPath(alternative);
      // `a/**` is everything in `a`, but not `a` itself.
      if (!flags.anywhere && parts.length > 1 && parts.at(-1) === '**') parts.push('*');
      const literal = flags.anywhere ? literalOf(alternative) : undefined;
      if (literal !== undefined) {
        const rule = { ...flags, order, segments: [] };
        const alike = this.#names.get(literal);
        if (alike === undefined) this.#names.set(literal, [rule]);
        else alike.push(rule);
      } else {
        const segments = parts.map(compileSegment);
        if (segments.every((segment) => segment !== INVALID)) this.#globs.push({ ...flags, order, segments });
      }
    }
  }
}

/** How many characters of globs may still be made. */
interface Room {
  left: number;
}

/** A wildcard that is not the beginning of the last name. */
const INNER_WILDCARD = /[^*/]\*|\*[^*/]+[*?[]|[?[]/;

interface ParsedLine extends Pick<Rule, 'negated' | 'foldersOnly' | 'anywhere'> {
  readonly glob: string;
}

function parseLine(line: string): ParsedLine | undefined {
  if (line.startsWith('#') || line.length > MAX_RULE_LENGTH) return undefined;
  let glob = line.endsWith('\\ ') ? line : line.trimEnd();
  if (glob === '') return undefined;
  const negated = glob.startsWith('!');
  let anchored = false;
  if (glob.startsWith('\\!') || glob.startsWith('\\#')) {
    glob = glob.slice(1);
  } else {
    if (negated) glob = glob.slice(1);
    anchored = glob.startsWith('/');
    if (anchored) glob = glob.slice(1);
  }
  const foldersOnly = glob.endsWith('/');
  if (foldersOnly) glob = glob.slice(0, glob.endsWith('\\/') ? -2 : -1);
  const anywhere = !anchored && !glob.includes('/');
  // ripgrep reads nothing at any depth as everything, whether the depth is written or not.
  const isEverything = (anywhere && glob === '') || glob === '**/';
  return { glob: isEverything ? '**' : glob, negated, foldersOnly, anywhere };
}

function matches({ anywhere, segments }: Rule, folder: readonly string[], name: string): boolean {
  const last = segments.at(-1);
  if (anywhere) return last === undefined || last(name);
  // Most paths fail here.
  if (last !== undefined && !last(name)) return false;
  return matchesPath(segments, folder, name);
}

/** Matches a path as `matchesTokens` matches a name: `**` stands for any number of names as `*` does for characters. */
function matchesPath(segments: readonly Segment[], folder: readonly string[], name: string): boolean {
  let [at, segment, star, afterStar] = [0, 0, -1, 0];
  while (at <= folder.length) {
    const tests = segments[segment];
    if (segment < segments.length && tests === undefined) {
      star = segment;
      afterStar = at;
      segment += 1;
    } else if (tests?.(folder[at] ?? name)) {
      at += 1;
      segment += 1;
    } else if (star === -1) {
      return false;
    } else {
      afterStar += 1;
      at = afterStar;
      segment = star + 1;
    }
  }
  return segments.slice(segment).every((rest) => rest === undefined);
}

/** The parts of a glob: an escaped character, a class, or any other character. */
const PARTS = /\\.|\[[!^]?\]?[^\]]*\]|./gsu;
const PARTS_WITHOUT_CLASS = /\\.|./gsu;

function partsOf(glob: string): string[] {
  // Looking for the end of a class after each "[" would take quadratic time if there is none.
  const end = glob.lastIndexOf(']') + 1;
  return [...(glob.slice(0, end).match(PARTS) ?? []), ...(glob.slice(end).match(PARTS_WITHOUT_CLASS) ?? [])];
}

/**
 * Returns the globs that one with braces stands for. Undefined if a brace is not closed or not opened, if there are too
 * many, or if there is no room for them. An empty alternative counts for nothing, as in ripgrep.
 */
function expandBraces(glob: string, room: Room): string[] | undefined {
  if (!/[{}]/.test(glob)) {
    room.left -= glob.length;
    return [glob];
  }
  /** Open braces: the alternatives that are complete, and what stood before each brace. */
  const open: { readonly before: readonly string[]; readonly done: string[] }[] = [];
  let current = [''];
  for (const part of partsOf(glob)) {
    const inner = open.at(-1);
    if (part === '{') {
      open.push({ before: current, done: [] });
      current = [''];
    } else if (inner !== undefined && (part === ',' || part === '}')) {
      inner.done.push(...current.filter((alternative) => alternative !== ''));
      current = [''];
      if (part === ',') continue;
      open.pop();
      const done = inner.done.length === 0 ? [''] : inner.done;
      current = inner.before.flatMap((before) => done.map((alternative) => before + alternative));
    } else if (part === '}') {
      return undefined;
    } else {
      current = current.map((before) => before + part);
    }
    room.left -= current.length;
    if (current.length > MAX_ALTERNATIVES || room.left < 0) return undefined;
  }
  return open.length === 0 ? current : undefined;
}

/**
 * Splits a glob at its slashes. An escaped slash is one, too, but not one in a class. Before an escaped slash, `**` is
 * no more than `*`, as in git and ripgrep.
 */
function splitPath(glob: string): string[] {
  const segments = [''];
  for (const part of partsOf(glob)) {
    const last = segments.length - 1;
    if (part === '\\/' && segments[last] === '**') segments[last] = '*';
    if (part === '/' || part === '\\/') segments.push('');
    else segments[last] += part;
  }
  return segments;
}

const SPECIAL = /[\\*?[\]]/;

/** Returns the name that a glob stands for, if it is just one. */
function literalOf(glob: string): string | undefined {
  const plain = glob.replace(/\\([^*?[\]\\])/gu, '$1');
  return SPECIAL.test(plain) ? undefined : plain;
}

/** Stands for a segment that cannot be parsed. */
const INVALID = (): boolean => false;

function compileSegment(glob: string): Segment {
  if (glob === '**') return undefined;
  const literal = literalOf(glob);
  if (literal !== undefined) return (name) => name === literal;
  const suffix = glob.startsWith('*') ? literalOf(glob.replace(/^\*+/, '')) : undefined;
  if (suffix !== undefined) return (name) => name.endsWith(suffix);
  const tokens = parseTokens(toBytes(glob));
  if (tokens === undefined) return INVALID;
  const prefix = glob.slice(0, glob.search(SPECIAL));
  return (name) => name.startsWith(prefix) && matchesTokens(tokens, toBytes(name));
}

/** Tests one byte. Undefined stands for `*`. */
type Token = ((byte: string) => boolean) | undefined;

/** Parses a glob for one name. Undefined if a class has a range backwards, or if it ends in a backslash. */
function parseTokens(glob: string): Token[] | undefined {
  const tokens: Token[] = [];
  const lastClass = glob.lastIndexOf(']');
  for (let at = 0; at < glob.length; at += 1) {
    const character = glob[at] as string;
    const source = character === '[' && at < lastClass ? classAt(glob, at) : '';
    if (character === '*') {
      tokens.push(undefined);
    } else if (character === '?') {
      tokens.push(() => true);
    } else if (source !== '') {
      const token = parseClass(source.slice(1, -1));
      if (token === undefined) return undefined;
      tokens.push(token);
      at += source.length - 1;
    } else {
      if (character === '\\') at += 1;
      const literal = glob[at];
      if (literal === undefined) return undefined;
      tokens.push((byte) => byte === literal);
    }
  }
  return tokens;
}

/** Returns the class that starts at an offset. Empty if there is none: a `[` without a `]` is a plain character. */
function classAt(glob: string, at: number): string {
  CLASS.lastIndex = at;
  return CLASS.exec(glob)?.[0] ?? '';
}

const CLASS = /\[[!^]?\]?[^\]]*\]/y;

/** Parses the inside of a class. A backslash in it is a plain character, as in ripgrep. */
function parseClass(source: string): ((byte: string) => boolean) | undefined {
  const negated = /^[!^]/.test(source);
  const ranges = [...source.slice(negated ? 1 : 0).matchAll(/(.)-(.)|./gs)].map(
    ([character, from, to]) => [from ?? character, to ?? character] as const,
  );
  if (ranges.some(([from, to]) => from > to)) return undefined;
  return (byte) => ranges.some(([from, to]) => from <= byte && byte <= to) !== negated;
}

/**
 * Matches a name with one point of return, the last `*`
 * (https://en.wikipedia.org/wiki/Matching_wildcards): trying an earlier one again cannot help.
 */
function matchesTokens(tokens: readonly Token[], name: string): boolean {
  let [at, token, star, afterStar] = [0, 0, -1, 0];
  while (at < name.length) {
    const tests = tokens[token];
    if (token < tokens.length && tests === undefined) {
      star = token;
      afterStar = at;
      token += 1;
    } else if (tests?.(name[at] as string)) {
      at += 1;
      token += 1;
    } else if (star === -1) {
      return false;
    } else {
      afterStar += 1;
      at = afterStar;
      token = star + 1;
    }
  }
  return tokens.slice(token).every((rest) => rest === undefined);
}

const NOT_ASCII = /[^\0-\x7f]/;

/** Returns the UTF-8 bytes of a text as a string with one character for each. */
function toBytes(text: string): string {
  return NOT_ASCII.test(text) ? Buffer.from(text).toString('latin1') : text;
}
