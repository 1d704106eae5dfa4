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
}

/** How one call asks. */
export interface Asking {
  readonly sample: Sample;
  readonly signal: AbortSignal | undefined;
}

/**
 * Asks for files and folders whose paths are checked, and takes the answers in. What is handed over by other ways while
 * an answer is awaited counts in its place. An answer that comes too late, or cannot be used, changes nothing.
 */
export class Fetcher {
  readonly #asks = new SingleFlight();
  readonly #parts: FetcherParts;

  constructor(parts: FetcherParts) {
    this.#parts = parts;
  }

  /** Questions under way. */
  get asking(): number {
    return this.#asks.size;
  }

  file(question: FileQuestion, asking: Asking): Promise<CachedFile> {
    const { handover, maxTokens } = this.#parts;
    const { path } = question;
    return this.#asks.run(waiter(`f:${path}`, asking), async (abort) => {
      using arrival = handover.files.watch(path);
      try {
        const answer = await this.#ask({ type: 'file', ...question }, askForFile(question, maxTokens), {
          abort,
          ...asking,
        });
        return arrival.seen ?? this.#takeFile(readFileAnswer(answer, question), question);
      } catch (error) {
        if (arrival.seen !== undefined) return arrival.seen;
        throw error;
      }
    });
  }

  folder(question: ListingQuestion, asking: Asking): Promise<readonly PathInfo[]> {
    const { handover, maxTokens } = this.#parts;
    const { path, recursive, pattern } = question;
    const key = `l:${JSON.stringify([path, recursive, pattern ?? null])}`;
    return this.#asks.run(waiter(key, asking), async (abort) => {
      using arrival = handover.folders.watch(path);
      const arrived = () => (fits(arrival.seen?.pattern, pattern) ? arrival.seen?.entries : undefined);
      try {
        const answer = await this.#ask({ type: 'directory', ...question }, askForListing(question, maxTokens), {
          abort,
          ...asking,
        });
        return arrived() ?? this.#takeFolder(answer, question);
      } catch (error) {
        const entries = arrived();
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
    return fromAnswer(path, () => {
      if (last.chunk !== undefined) return this.#takeChunks(asked, path);
      const { bytes, encoding: found } = toBytes(last, [encoding, ...fallbackEncodings]);
      if (last.sha256 !== undefined) assertHash(sha256(bytes), last.sha256, 'sha256');
      return handover.takeOrPass({ ...last, path, bytes, encoding: found });
    });
  }

  #takeChunks(chunks: readonly ReceivedFile[], path: string): CachedFile {
    using arrival = this.#parts.handover.files.watch(path);
    for (const chunk of chunks) this.#parts.handover.receiveFile({ ...chunk, path });
    if (arrival.seen === undefined) throw badAnswer('some of its chunks are missing', path);
    return arrival.seen;
  }

  #takeFolder(answer: SampleAnswer, question: ListingQuestion): readonly PathInfo[] {
    const { validator, handover } = this.#parts;
    const { path } = question;
    const { path: about, entries } = readListingAnswer(answer, path);
    if (about !== undefined && !this.#isAbout(about, path))
      throw badAnswer(`it is about another path (${about})`, path);
    const checked = fromAnswer(path, () => checkEntries(entries, path, validator));
    handover.keepOrPass(question, checked);
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

  async #ask(question: SampleQuestion, params: SampleParams, { abort, sample }: Asking & { abort: AbortController }) {
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

function waiter(key: string, { sample, signal }: Asking): { key: string | undefined; signal: AbortSignal | undefined } {
  return { key: sample.separate === true ? undefined : key, signal };
}

/** A listing that was filtered by another pattern than asked for is not the answer. */
function fits(given: string | undefined, asked: string | undefined): boolean {
  return given === undefined || given === asked;
}

/** Arguments that do not fit are the answer's fault here, not the caller's. */
function fromAnswer<T>(path: string, take: () => T): T {
  try {
    return take();
  } catch (error) {
    const blamed =
      error instanceof BridgeError &&
      ['invalid_argument', 'invalid_encoding', 'unsupported_encoding'].includes(error.code);
    throw blamed ? badAnswer(error.message, path) : error;
  }
}
