import { RE2JS, RE2JSException } from 're2js';
import { RingfenceError } from '../../errors.ts';
import { SearchMemory } from '../kernels/search-memory.ts';
import { LineAutomaton } from '../pattern/dfa-matcher.ts';
import { LineDfa } from '../pattern/lazy-dfa.ts';
import type { LineMatcher, Stop } from '../pattern/line-matcher.ts';
import { LineNfa } from '../pattern/pike-matcher.ts';
import { programOf } from '../pattern/program.ts';
import { choosePrefilter } from '../prefilter/choose-prefilter.ts';
import { exactWindows, regExpOf } from '../prefilter/exact-sequences.ts';
import { SimdTextScanner } from '../prefilter/literal-scanner.ts';
import type { Prefilter } from '../prefilter/prefilter.ts';
import { FilteredScan, type LineScan, PlainScan } from './line-scan.ts';

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
  scan(region: Buffer): LineScan;
  /** Where in a text the first match begins, if there is one. Too slow for long texts. */
  positionIn(text: string): number | undefined;
}

interface Means {
  readonly stop?: Stop;
  /** Regions of this memory are searched faster than others. */
  readonly memory?: SearchMemory;
}

/** Compiles RE2 syntax, or plain text. Raises `invalid_pattern` with the parser's own words. */
export function compileLinePattern(options: LinePatternOptions, means: Means = {}): LinePattern {
  const { stop = { raised: false }, memory = new SearchMemory({ simd: false }) } = means;
  const { pattern, literal, caseInsensitive } = options;
  const regex = compileRegex(literal ? RE2JS.quote(pattern) : pattern, caseInsensitive);
  return new TwoWayPattern({ memory, build: scannersFor(regex, { stop, memory }), positionIn: locatorFor(regex) });
}

/** Long lines are rare, so it is built only when it is needed. */
function locatorFor(regex: RE2JS): LinePattern['positionIn'] {
  let quick: RegExp | false | undefined;
  return (text) => {
    if (quick === undefined) {
      const windows = exactWindows(programOf(regex));
      quick = windows !== undefined && regExpOf(windows);
    }
    if (quick === false) return positionIn(regex, text);
    const at = text.search(quick);
    return at === -1 ? undefined : at;
  };
}

type Scanner = Pick<LinePattern, 'scan'>;
type BuildScanner = (simd: boolean) => Scanner;

function scannersFor(regex: RE2JS, { stop, memory }: Required<Means>): BuildScanner {
  const text = onlyText(regex);
  // Where it is, there is nothing to look at more closely.
  if (text !== undefined) {
    const bytes = Buffer.from(text);
    return (simd) => (simd ? new SimdTextScanner(bytes, memory) : new TextScanner(bytes));
  }
  const program = programOf(regex);
  const otherwise = new LineNfa(program, stop);
  const matcher = LineDfa.fits(program) ? new LineAutomaton({ program, otherwise, stop }) : otherwise;
  return (simd) => filtered(matcher, simd ? choosePrefilter(regex, program, memory) : undefined);
}

interface TwoWays {
  readonly memory: SearchMemory;
  readonly build: BuildScanner;
  readonly positionIn: LinePattern['positionIn'];
}

/**
 * Scans what the memory holds in one way, and all else in another. Hardly ever are both needed. It is a class, as are
 * scanners: of a function that each search makes anew, the machine code is made anew as well.
 */
class TwoWayPattern implements LinePattern {
  readonly positionIn: LinePattern['positionIn'];
  readonly #memory: SearchMemory;
  readonly #build: BuildScanner;
  #simd: Scanner | undefined;
  #plain: Scanner | undefined;

  constructor({ memory, build, positionIn }: TwoWays) {
    this.#memory = memory;
    this.#build = build;
    this.positionIn = positionIn;
  }

  scan(region: Buffer): LineScan {
    if (this.#memory.holds(region)) {
      this.#simd ??= this.#build(true);
      return this.#simd.scan(region);
    }
    this.#plain ??= this.#build(false);
    return this.#plain.scan(region);
  }
}

/** Finds where a string of bytes is, in regions of any memory. */
class TextScanner implements Scanner {
  readonly #text: Buffer;

  constructor(text: Buffer) {
    this.#text = text;
  }

  scan(region: Buffer): LineScan {
    return { next: (from) => region.indexOf(this.#text, from) };
  }
}

function filtered(matcher: LineMatcher, prefilter: Prefilter | undefined): Scanner {
  return prefilter === undefined
    ? { scan: (region) => new PlainScan(region, matcher) }
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

  scan(region: Buffer): LineScan {
    if (this.#without > 0) {
      this.#without -= 1;
      return new PlainScan(region, this.#matcher);
    }
    return new FilteredScan(region, { matcher: this.#matcher, finder: this.#prefilter(region), gaveUp: this.#gaveUp });
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
    throw new RingfenceError('invalid_pattern', { problem: `pattern is longer than ${MAX_PATTERN_LENGTH} characters` });
  try {
    return RE2JS.compile(pattern, caseInsensitive ? RE2JS.CASE_INSENSITIVE : 0);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    // The parser would quote the flag as a part of the pattern.
    if (caseInsensitive) return compileRegex(pattern);
    throw new RingfenceError('invalid_pattern', { problem: error.message }, { cause: error });
  }
}

function positionIn(regex: RE2JS, text: string): number | undefined {
  if (!regex.test(text)) return undefined;
  const matcher = regex.matcher(text);
  return matcher.find() ? matcher.start() : undefined;
}
