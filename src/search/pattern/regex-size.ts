/** Large enough to exceed every limit, small enough that products stay finite. */
const MANY = 1e12;

/** Cost of a named class like `\p{L}`, which has hundreds of ranges, in instructions that take as long to compile. */
const NAMED_CLASS = 64;
/** Code points of a range that are folded in the time of one instruction. */
const FOLDED_PER_INSTRUCTION = 80;

/** Flags that ignore case. */
const FOLDS_CASE = /\(\?[a-zA-Z]{0,9}i/;
// Names and numbers have a maximum length, or many that are not closed would take quadratic time.
const REPETITION = /\{(\d{1,9})(,(\d{0,9}))?\}/y;
const GROUP_HEAD = /\(\?(?:P?<[^>]{0,99}>|[a-zA-Z-]{0,9}:)?/y;
const FLAGS = /\(\?[a-zA-Z-]{0,9}\)/y;
const QUOTED = /\\Q(.*?)(?:\\E|$)/sy;
const ESCAPE = /\\(?:[pP]\{[^}]{0,99}\}|[pP].|x\{[^}]{0,99}\}|.)/suy;
const POSIX_CLASS = /\[:\^?\w{1,9}:\]/y;
const CHARACTER = /./suy;

/** What is known of a group that is not closed yet: the size of its complete alternatives, and of the current one. */
interface Alternatives {
  complete: number;
  current: number;
  /** Size of the last operand, which a repetition multiplies. */
  last: number;
  /** Number of instructions that note where the group begins and ends. */
  readonly marks: number;
}

function openGroup(marks: number): Alternatives {
  return { complete: 0, current: 0, last: 0, marks };
}

/**
 * Estimates how many instructions a regular expression in RE2 syntax compiles to, without parsing it, in time linear in
 * its length. Parts that take long to compile count as more. Alternatives that the parser would merge count in full.
 * The estimate of text that is not a regular expression has no meaning.
 */
export function regexSize(pattern: string, caseInsensitive = false): number {
  return new SizeScan(pattern, caseInsensitive || FOLDS_CASE.test(pattern)).run();
}

class SizeScan {
  readonly #pattern: string;
  readonly #foldsCase: boolean;
  #at = 0;
  /** Cost of parsing classes, which repetitions do not multiply. */
  #classes = 0;
  #open: Alternatives[] = [];
  #group = openGroup(0);

  constructor(pattern: string, foldsCase: boolean) {
    this.#pattern = pattern;
    this.#foldsCase = foldsCase;
  }

  run(): number {
    while (this.#at < this.#pattern.length) this.#step();
    while (this.#open.length > 0) this.#close();
    return Math.min(this.#group.complete + this.#group.current + this.#classes, MANY);
  }

  #step(): void {
    const char = this.#pattern[this.#at];
    if (char === '\\') this.#escape();
    else if (char === '[') this.#class();
    else if (char === '(') this.#openGroup();
    else if (char === ')') this.#close();
    else if (char === '{') this.#repeat();
    else {
      this.#at += 1;
      if (char === '|') {
        this.#group.complete += this.#group.current + 1;
        this.#group.current = 0;
        this.#group.last = 0;
      } else if (char === '*' || char === '+' || char === '?') {
        this.#grow(1);
      } else {
        this.#operand(1);
      }
    }
  }

  #operand(size: number): void {
    this.#group.current = Math.min(this.#group.current + size, MANY);
    this.#group.last = size;
  }

  /** Makes the last operand larger. */
  #grow(by: number): void {
    const { last } = this.#group;
    this.#group.current -= last;
    this.#operand(Math.min(last + by, MANY));
  }

  #openGroup(): void {
    if (this.#take(FLAGS) !== undefined) return;
    const [head = '('] = this.#take(GROUP_HEAD) ?? [];
    if (head === '(') this.#at += 1;
    this.#open.push(this.#group);
    this.#group = openGroup(head.endsWith(':') ? 0 : 2);
  }

  #close(): void {
    this.#at += 1;
    const { complete, current, marks } = this.#group;
    this.#group = this.#open.pop() ?? openGroup(0);
    this.#operand(complete + current + marks);
  }

  #repeat(): void {
    const [text, min = '', comma, max = ''] = this.#take(REPETITION) ?? [];
    if (text === undefined) {
      this.#at += 1;
      this.#operand(1);
      return;
    }
    const least = Number(min);
    const most = comma === undefined ? least : max === '' ? least + 1 : Number(max);
    this.#grow(this.#group.last * (Math.max(1, most) - 1) + Math.max(0, most - least));
  }

  #escape(): void {
    const quoted = this.#take(QUOTED);
    if (quoted !== undefined) {
      this.#operand(quoted[1]?.length ?? 0);
      return;
    }
    this.#character();
    this.#operand(1);
  }

  /** Takes a class, and adds the cost of its ranges. */
  #class(): void {
    this.#at += this.#pattern[this.#at + 1] === '^' ? 2 : 1;
    let low: number | undefined;
    for (let isFirst = true; this.#at < this.#pattern.length; isFirst = false) {
      if (this.#pattern[this.#at] === ']' && !isFirst) break;
      if (this.#take(POSIX_CLASS) !== undefined) continue;
      const isRange = low !== undefined && this.#pattern[this.#at] === '-' && this.#pattern[this.#at + 1] !== ']';
      if (isRange) this.#at += 1;
      const rune = this.#character();
      if (isRange && this.#foldsCase) this.#classes += Math.max(0, rune - (low ?? 0)) / FOLDED_PER_INSTRUCTION;
      low = isRange ? undefined : rune;
    }
    this.#at += 1;
    this.#operand(1);
  }

  /** Takes one character or escape sequence. Returns its code point, as far as it stands for one. */
  #character(): number {
    const [sequence] = this.#take(ESCAPE) ?? [];
    if (sequence === undefined) return this.#take(CHARACTER)?.[0].codePointAt(0) ?? 0;
    if (/^\\[pP]/.test(sequence)) this.#classes += NAMED_CLASS;
    if (sequence.startsWith('\\x{')) return Math.min(Number.parseInt(sequence.slice(3, -1), 16) || 0, MANY);
    return sequence.codePointAt(1) ?? 0;
  }

  /** Takes what an expression matches here. The expression must have the flag `y`. */
  #take(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = this.#at;
    const found = expression.exec(this.#pattern) ?? undefined;
    if (found !== undefined) this.#at = expression.lastIndex;
    return found;
  }
}
