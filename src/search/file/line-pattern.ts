import { RE2JS, RE2JSException } from 're2js';
import { SearchMemory } from '../kernels/search-memory.ts';
import { DfaMatcher } from '../pattern/dfa-matcher.ts';
import { LazyDfa } from '../pattern/lazy-dfa.ts';
import type { LineMatcher, StopSignal } from '../pattern/line-matcher.ts';
import { PikeMatcher } from '../pattern/pike-matcher.ts';
import { programOf } from '../pattern/program.ts';
import { SearchError } from '../pattern/search-error.ts';
import { choosePrefilter } from '../prefilter/choose-prefilter.ts';
import { exactSequences, regExpOf } from '../prefilter/exact-sequences.ts';
import { LiteralScanner } from '../prefilter/literal-scanner.ts';
import type { Prefilter } from '../prefilter/prefilter.ts';
import { type LineScan, PrefilteredScan, UnfilteredScan } from './line-scan.ts';

/** Compiling takes time with the length, and nobody writes such a pattern by hand. */
const MAX_PATTERN_LENGTH = 64 * 1024;

/** Where a prefilter did not pay, so many regions are searched without before it is tried again. */
const REGIONS_WITHOUT = 15;

export interface LinePatternOptions {
  readonly pattern: string;
  /** The pattern is plain text, not a regular expression. */
  readonly literal: boolean;
  readonly caseInsensitive: boolean;
}

/** A compiled pattern, as the search of lines needs it. */
export interface LinePattern {
  /** Starts to look for matching lines in a region of whole lines. Finds none once the search is to stop. */
  scan(block: Buffer): LineScan;
  /** Where in a text the first match begins, if there is one. Too slow for long texts. */
  positionIn(text: string): number | undefined;
}

interface PatternEnvironment {
  readonly stop?: StopSignal;
  /** Regions of this memory are searched faster than others. */
  readonly memory?: SearchMemory;
}

/** Compiles RE2 syntax, or plain text. Raises `invalid_pattern` with the parser's own words. */
export function compileLinePattern(options: LinePatternOptions, means: PatternEnvironment = {}): LinePattern {
  const { stop = { raised: false }, memory = new SearchMemory({ simd: false }) } = means;
  const { pattern, literal, caseInsensitive } = options;
  const regex = compileRegex(literal ? RE2JS.quote(pattern) : pattern, caseInsensitive);
  return new CompiledLinePattern({
    memory,
    build: scannersFor(regex, { stop, memory }),
    positionIn: locatorFor(regex),
  });
}

/** Long lines are rare, so it is built only when it is needed. */
function locatorFor(regex: RE2JS): LinePattern['positionIn'] {
  let quick: RegExp | false | undefined;
  return (text) => {
    if (quick === undefined) {
      const sequences = exactSequences(programOf(regex));
      quick = sequences !== undefined && regExpOf(sequences);
    }
    if (quick === false) return positionIn(regex, text);
    const at = text.search(quick);
    return at === -1 ? undefined : at;
  };
}

type Scanner = Pick<LinePattern, 'scan'>;
type BuildScanner = (simd: boolean) => Scanner;

function scannersFor(regex: RE2JS, { stop, memory }: Required<PatternEnvironment>): BuildScanner {
  const text = onlyText(regex);
  // Where it is, there is nothing to look at more closely.
  if (text !== undefined) {
    const bytes = Buffer.from(text);
    return (simd) => (simd ? new LiteralScanner(bytes, memory) : new TextScanner(bytes));
  }
  const program = programOf(regex);
  const fallback = new PikeMatcher(program, stop);
  const matcher = LazyDfa.fits(program) ? new DfaMatcher({ program, fallback, stop }) : fallback;
  return (simd) => filtered(matcher, simd ? choosePrefilter(regex, program, memory) : undefined);
}

interface CompiledParts {
  readonly memory: SearchMemory;
  readonly build: BuildScanner;
  readonly positionIn: LinePattern['positionIn'];
}

/**
 * Scans what the memory holds in one way, and all else in another. Hardly ever are both needed. It is a class, as are
 * scanners: of a function that each search makes anew, the machine code is made anew as well.
 */
class CompiledLinePattern implements LinePattern {
  readonly positionIn: LinePattern['positionIn'];
  readonly #memory: SearchMemory;
  readonly #build: BuildScanner;
  #simd: Scanner | undefined;
  #plain: Scanner | undefined;

  constructor({ memory, build, positionIn }: CompiledParts) {
    this.#memory = memory;
    this.#build = build;
    this.positionIn = positionIn;
  }

  scan(block: Buffer): LineScan {
    if (this.#memory.holds(block)) {
      this.#simd ??= this.#build(true);
      return this.#simd.scan(block);
    }
    this.#plain ??= this.#build(false);
    return this.#plain.scan(block);
  }
}

/** Finds where a string of bytes is, in regions of any memory. */
class TextScanner implements Scanner {
  readonly #text: Buffer;

  constructor(text: Buffer) {
    this.#text = text;
  }

  scan(block: Buffer): LineScan {
    return { next: (from) => block.indexOf(this.#text, from) };
  }
}

function filtered(matcher: LineMatcher, prefilter: Prefilter | undefined): Scanner {
  return prefilter === undefined
    ? { scan: (block) => new UnfilteredScan(block, matcher) }
    : new FilteredScanner(matcher, prefilter);
}

class FilteredScanner implements Scanner {
  readonly #matcher: LineMatcher;
  readonly #prefilter: Prefilter;
  #without = 0;

  constructor(matcher: LineMatcher, prefilter: Prefilter) {
    this.#matcher = matcher;
    this.#prefilter = prefilter;
  }

  scan(block: Buffer): LineScan {
    if (this.#without > 0) {
      this.#without -= 1;
      return new UnfilteredScan(block, this.#matcher);
    }
    return new PrefilteredScan(block, { matcher: this.#matcher, finder: this.#prefilter(block), gaveUp: this.#gaveUp });
  }

  readonly #gaveUp = (): void => {
    this.#without = REGIONS_WITHOUT;
  };
}

/** The text, if the pattern is nothing but a text within one line. */
function onlyText(regex: RE2JS): string | undefined {
  const { prefixComplete, prefix } = regex.re2() as { prefixComplete: boolean; prefix: string };
  return prefixComplete && prefix !== '' && !prefix.includes('\n') ? prefix : undefined;
}

/** Compiles RE2 syntax. Raises `invalid_pattern`. */
export function compileRegex(pattern: string, caseInsensitive = false): RE2JS {
  if (pattern.length > MAX_PATTERN_LENGTH)
    throw new SearchError('invalid_pattern', { problem: `pattern is longer than ${MAX_PATTERN_LENGTH} characters` });
  try {
    return RE2JS.compile(pattern, caseInsensitive ? RE2JS.CASE_INSENSITIVE : 0);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    // The parser would quote the flag as a part of the pattern.
    if (caseInsensitive) return compileRegex(pattern);
    throw new SearchError('invalid_pattern', { problem: error.message }, { cause: error });
  }
}

function positionIn(regex: RE2JS, text: string): number | undefined {
  if (!regex.test(text)) return undefined;
  const matcher = regex.matcher(text);
  return matcher.find() ? matcher.start() : undefined;
}
