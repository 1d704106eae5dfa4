/** How many alternatives the braces of a glob stand for, and how long they are together. */
interface BraceSize {
  readonly alternatives: number;
  readonly length: number;
}

/** Large enough to exceed every limit, small enough that products stay finite. */
const MANY = 1e12;

const ONE: BraceSize = { alternatives: 1, length: 0 };

const RANGE = /^(?:(-?\d+)\.\.(-?\d+)|([a-zA-Z])\.\.([a-zA-Z]))(?:\.\.(-?\d+))?$/;

/**
 * Computes the size of a glob's brace expansion without expanding it, in time linear in the length of the glob:
 * expanding `{a,b}` a hundred times up to any limit takes a second. Follows the rules of Bash, except for groups that
 * lack a comma and are followed by one (`{a},b}`), which it may count as fewer alternatives.
 */
export function braceSize(glob: string): BraceSize {
  const open: OpenGroup[] = [];
  let current = ONE;
  for (let at = 0; at < glob.length; at += 1) {
    const char = glob[at];
    if (char === '{') {
      open.push({ start: at, before: current, parts: [] });
      current = ONE;
    } else if (char === ',' && open.length > 0) {
      open.at(-1)?.parts.push(current);
      current = ONE;
    } else if (char === '}' && open.length > 0) {
      const group = open.pop() as OpenGroup;
      current = product(group.before, sizeOf(group, current, glob.slice(group.start, at + 1), glob[group.start - 1]));
    } else {
      // A backslash makes the next character ordinary.
      const chars = char === '\\' ? 2 : 1;
      current = product(current, { alternatives: 1, length: chars });
      at += chars - 1;
    }
  }
  // A brace that is never closed is an ordinary character, and so are the commas after it.
  return open.reduceRight((after, { before, parts }) => [before, ...parts, after].reduce(product), current);
}

/** A brace that is not closed yet: what comes before it, and the alternatives that a comma has ended. */
interface OpenGroup {
  readonly start: number;
  readonly before: BraceSize;
  readonly parts: BraceSize[];
}

function sizeOf({ parts }: OpenGroup, last: BraceSize, text: string, charBefore: string | undefined): BraceSize {
  // `${a,b}` is not expanded.
  if (charBefore === '$') return { alternatives: 1, length: text.length };
  if (parts.length > 0) return [...parts, last].reduce(sum);
  const range = text.length <= MAX_RANGE_TEXT ? RANGE.exec(text.slice(1, -1)) : null;
  if (range === null) return product(last, { alternatives: 1, length: 2 });
  const [, from, to, fromLetter = '', toLetter = '', step = '1'] = range;
  const distance = from === undefined ? toLetter.charCodeAt(0) - fromLetter.charCodeAt(0) : Number(to) - Number(from);
  const values = Math.floor(Math.abs(distance) / Math.max(1, Math.abs(Number(step)))) + 1;
  const width = Math.max(from?.length ?? 1, to?.length ?? 1);
  return { alternatives: Math.min(values, MANY), length: Math.min(values * width, MANY) };
}

/** No range is longer, and looking for one in every group of a nest would take quadratic time. */
const MAX_RANGE_TEXT = 100;

function product(a: BraceSize, b: BraceSize): BraceSize {
  return {
    alternatives: Math.min(a.alternatives * b.alternatives, MANY),
    length: Math.min(a.length * b.alternatives + b.length * a.alternatives, MANY),
  };
}

function sum(a: BraceSize, b: BraceSize): BraceSize {
  return {
    alternatives: Math.min(a.alternatives + b.alternatives, MANY),
    length: Math.min(a.length + b.length, MANY),
  };
}
