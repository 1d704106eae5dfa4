import { RE2JS } from 're2js';
import { SearchMemory } from '../kernels/search-memory.ts';
import { DfaMatcher } from '../pattern/dfa-matcher.ts';
import { LazyDfa } from '../pattern/lazy-dfa.ts';
import type { LineMatcher, StopSignal } from '../pattern/line-matcher.ts';
import { PikeMatcher } from '../pattern/pike-matcher.ts';
import { programOf } from '../pattern/program.ts';
import { compileRegex } from '../pattern/regex.ts';
import { choosePrefilter } from '../prefilter/choose-prefilter.ts';
import { exactSequences, regExpOf } from '../prefilter/exact-sequences.ts';
import { LiteralScanner, PlainLiteralScanner } from '../prefilter/literal-scanner.ts';
import type { Prefilter } from '../prefilter/prefilter.ts';
import { type LineScan, PrefilteredScan, UnfilteredScan } from './line-scan.ts';

/** After a prefilter gave up, this many blocks are searched without it before it is tried again. */
const BLOCKS_WITHOUT = 15;

/** A pattern as the caller gave it. */
export interface LinePatternOptions {
  readonly pattern: string;
  /** Whether the pattern is plain text instead of a regular expression. */
  readonly literal: boolean;
  readonly caseInsensitive: boolean;
}

/**
 * A compiled pattern that finds matching lines. It keeps state between calls (lazy DFA, prefilter statistics) and
 * belongs to one thread.
 */
export interface LinePattern {
  /**
   * Starts a scan for matching lines in a block of whole lines. The scan finds nothing more once the stop signal is
   * raised.
   */
  scan(block: Buffer): LineScan;
  /** Returns the index of the first match in a decoded text, or undefined. Too slow for long texts. */
  positionIn(text: string): number | undefined;
}

interface PatternEnvironment {
  readonly stop?: StopSignal;
  /** Blocks in this memory are searched with SIMD kernels. */
  readonly memory?: SearchMemory;
}

/**
 * Compiles a regular expression in RE2 syntax, or plain text. Raises `invalid_pattern` with the parser's message.
 *
 * Literals are searched directly. Other patterns run on a lazy DFA with a Pike VM as fallback, behind a prefilter where
 * one pays off and the block lies in SIMD memory: the design of RE2 (https://swtch.com/~rsc/regexp/regexp3.html) and of
 * Rust's regex crate (https://burntsushi.net/regex-internals/).
 */
export function compileLinePattern(options: LinePatternOptions, environment: PatternEnvironment = {}): LinePattern {
  const { stop = { raised: false }, memory = new SearchMemory({ simd: false }) } = environment;
  const { pattern, literal, caseInsensitive } = options;
  const regex = compileRegex(literal ? RE2JS.quote(pattern) : pattern, caseInsensitive);
  return new CompiledLinePattern({
    memory,
    build: scannersFor(regex, { stop, memory }),
    positionIn: locatorFor(regex),
  });
}

/** Builds the matcher on first use, since it is needed for lines over `MAX_SHOWN` code points only. */
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
  const text = literalOf(regex);
  // A literal that is found is a match; no matcher is needed.
  if (text !== undefined) {
    const bytes = Buffer.from(text);
    return (simd) => (simd ? new LiteralScanner(bytes, memory) : new PlainLiteralScanner(bytes));
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
 * Uses SIMD scanners for blocks in the search memory and plain scanners for all others; most searches need only one of
 * the two. This and the scanners are classes rather than closures because V8 would optimize a closure anew for each
 * search.
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
    this.#without = BLOCKS_WITHOUT;
  };
}

/** Returns the literal if the pattern is nothing but a literal without LF. */
function literalOf(regex: RE2JS): string | undefined {
  const { prefixComplete, prefix } = regex.re2() as { prefixComplete: boolean; prefix: string };
  return prefixComplete && prefix !== '' && !prefix.includes('\n') ? prefix : undefined;
}

function positionIn(regex: RE2JS, text: string): number | undefined {
  if (!regex.test(text)) return undefined;
  const matcher = regex.matcher(text);
  return matcher.find() ? matcher.start() : undefined;
}
