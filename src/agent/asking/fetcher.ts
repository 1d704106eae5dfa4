import { RingfenceError } from '../../errors.ts';
import { BridgeError } from '../bridge-error.ts';
import type { CachedFile } from '../cache/file-cache.ts';
import { checkEntries } from '../handover/check-entries.ts';
import type { Handover, ReceivedFile } from '../handover/handover.ts';
import { assertHash, sha256, toBytes } from '../handover/handover-file.ts';
import type { PathInfo } from '../listing-entry.ts';
import type { PathValidator } from '../policy/path-validator.ts';
import type { FileQuestion, ListingQuestion, Sample, SampleAnswer, SampleParams, SampleQuestion } from '../sample.ts';
import { badAnswer } from './answer.ts';
import { readFileAnswer } from './file-answer.ts';
import { readListingAnswer } from './listing-answer.ts';
import { askForFile, askForListing } from './prompts.ts';
import { SingleFlight, unlessAborted } from './single-flight.ts';

interface FetcherParts {
  readonly validator: PathValidator;
  readonly handover: Handover;
  readonly timeoutMs: number;
  readonly maxTokens: number;
  /** The root that questions name; undefined if there is only one. */
  readonly rootName?: string | undefined;
}

/** What one call brings along to ask the client. */
export interface AskContext {
  readonly sample: Sample;
  readonly signal: AbortSignal | undefined;
}

/**
 * Asks the client for files and listings and caches the answers. Callers validate the paths first. If the client hands
 * the same file or listing over with a tool call while a question is pending, that copy is used instead of the answer.
 * An answer that arrives after the timeout, or is unusable, changes nothing.
 */
export class Fetcher {
  readonly #asks = new SingleFlight();
  readonly #parts: FetcherParts;

  constructor(parts: FetcherParts) {
    this.#parts = parts;
  }

  /** How many questions are pending. */
  get asking(): number {
    return this.#asks.size;
  }

  /**
   * Asks for one file. Concurrent calls for the same path share one question. Raises `timed_out`, `cancelled`,
   * `exhausted`, `bad_answer`, `undecodable`, and what the client reports: `not_found`, `is_directory`,
   * `permission_denied`.
   */
  file(question: FileQuestion, context: AskContext): Promise<CachedFile> {
    const { handover } = this.#parts;
    const { path } = question;
    return this.#asks.run(waiter(`f:${path}`, context), async (abort) => {
      using handedOver = handover.acceptedFiles.subscribe(path);
      try {
        const answer = await this.#ask({ type: 'file', ...question }, askForFile(question, this.#parts), {
          abort,
          ...context,
        });
        return handedOver.latest ?? this.#takeFile(readFileAnswer(answer, question), question);
      } catch (error) {
        if (handedOver.latest !== undefined) return handedOver.latest;
        throw error;
      }
    });
  }

  /**
   * Asks for the entries of a folder. Concurrent calls with equal arguments share one question. Raises `timed_out`,
   * `cancelled`, `exhausted`, `bad_answer`, `path_not_allowed`, and what the client reports: `not_found`,
   * `is_directory`, `permission_denied`.
   */
  folder(question: ListingQuestion, context: AskContext): Promise<readonly PathInfo[]> {
    const { handover } = this.#parts;
    const { path, recursive, pattern } = question;
    const key = `l:${JSON.stringify([path, recursive, pattern ?? null])}`;
    return this.#asks.run(waiter(key, context), async (abort) => {
      using handedOver = handover.acceptedListings.subscribe(path);
      const usable = () => (covers(handedOver.latest?.pattern, pattern) ? handedOver.latest?.entries : undefined);
      try {
        const answer = await this.#ask({ type: 'directory', ...question }, askForListing(question, this.#parts), {
          abort,
          ...context,
        });
        return usable() ?? this.#takeFolder(answer, question);
      } catch (error) {
        const entries = usable();
        if (entries !== undefined) return entries;
        throw error;
      }
    });
  }

  #takeFile(files: readonly ReceivedFile[], { path, encoding = 'utf-8', fallbackEncodings }: FileQuestion): CachedFile {
    const { handover } = this.#parts;
    const asked = files.filter((file) => this.#isAbout(file.path, path));
    const last = asked.at(-1);
    if (last === undefined) throw badAnswer(`it is about another path (${files[0]?.path})`, path);
    return blamingAnswer(path, () => {
      if (last.chunk !== undefined) return this.#takeChunks(asked, path);
      const { bytes, encoding: found } = toBytes(last, [encoding, ...fallbackEncodings]);
      if (last.sha256 !== undefined) assertHash(sha256(bytes), last.sha256, 'sha256');
      return handover.cacheFileIfFits({ ...last, path, bytes, encoding: found });
    });
  }

  #takeChunks(chunks: readonly ReceivedFile[], path: string): CachedFile {
    using assembled = this.#parts.handover.acceptedFiles.subscribe(path);
    for (const chunk of chunks) this.#parts.handover.receiveFile({ ...chunk, path });
    if (assembled.latest === undefined) throw badAnswer('some of its chunks are missing', path);
    return assembled.latest;
  }

  #takeFolder(answer: SampleAnswer, question: ListingQuestion): readonly PathInfo[] {
    const { validator, handover } = this.#parts;
    const { path } = question;
    const { path: about, entries } = readListingAnswer(answer, path);
    if (about !== undefined && !this.#isAbout(about, path))
      throw badAnswer(`it is about another path (${about})`, path);
    const checked = blamingAnswer(path, () => checkEntries(entries, path, validator));
    handover.cacheListingIfFits(question, checked);
    return checked;
  }

  #isAbout(given: string, path: string): boolean {
    try {
      return this.#parts.validator.validateSpelling(given) === path;
    } catch (error) {
      if (error instanceof BridgeError) return false;
      throw error;
    }
  }

  async #ask(
    question: SampleQuestion,
    params: SampleParams,
    { abort, sample }: AskContext & { abort: AbortController },
  ) {
    const { timeoutMs } = this.#parts;
    const { path } = question;
    const late = new BridgeError('timed_out', { seconds: timeoutMs / 1000 }, { path });
    const timer = setTimeout(() => abort.abort(late), timeoutMs);
    try {
      return await unlessAborted(sample(params, { signal: abort.signal, timeoutMs, question }), abort.signal);
    } catch (error) {
      throw error instanceof RingfenceError ? BridgeError.from(error, path) : error;
    } finally {
      clearTimeout(timer);
    }
  }
}

function waiter(
  key: string,
  { sample, signal }: AskContext,
): { key: string | undefined; signal: AbortSignal | undefined } {
  return { key: sample.separate === true ? undefined : key, signal };
}

/**
 * Whether a listing filtered by `given` holds everything that matches `asked`: only if it is unfiltered or has the same
 * pattern.
 */
function covers(given: string | undefined, asked: string | undefined): boolean {
  return given === undefined || given === asked;
}

/**
 * Runs `take` and turns errors about invalid arguments into `bad_answer`: the arguments came from the client's answer.
 */
function blamingAnswer<T>(path: string, take: () => T): T {
  try {
    return take();
  } catch (error) {
    const isInvalid =
      error instanceof BridgeError &&
      ['invalid_argument', 'invalid_encoding', 'unsupported_encoding'].includes(error.code);
    throw isInvalid ? badAnswer(error.message, path) : error;
  }
}
