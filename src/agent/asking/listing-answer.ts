import { isRecord } from '../handover/check-entries.ts';
import { HANDOVER_TOOLS } from '../handover-tools.ts';
import type { SampleAnswer } from '../sample.ts';
import { badAnswer, findJson, parseReportedError, parseToolCalls, readAnswer, toReportedError } from './answer.ts';

/** A listing from an answer. The entries are unchecked; pass them to `checkEntries`. */
export interface AnsweredListing {
  /** The folder that the answer names, if it names one. */
  readonly path: string | undefined;
  readonly entries: unknown;
}

/**
 * Returns the listing in an answer to a `ListingQuestion`. Raises `bad_answer`, `is_directory`, `not_found` and
 * `permission_denied`.
 */
export function readListingAnswer(answer: SampleAnswer, path: string): AnsweredListing {
  const { calls, texts } = readAnswer(answer, path);
  const called = calls.find(({ name }) => name === HANDOVER_TOOLS.listDirectory);
  const found = called === undefined ? findJson(texts, recognise) : fromObject(called.input);
  if (found === undefined) throw badAnswer('it is not a listing of the folder', path);
  if ('failure' in found) throw toReportedError(found.failure, path);
  return found;
}

function recognise(value: unknown): AnsweredListing | { failure: string } | undefined {
  const failure = parseReportedError(value);
  if (failure !== undefined) return { failure };
  const call = parseToolCalls(value)?.find(({ name }) => name === HANDOVER_TOOLS.listDirectory);
  if (call !== undefined) return fromObject(call.input);
  return Array.isArray(value) ? { path: undefined, entries: value } : fromObject(value);
}

function fromObject(value: unknown): AnsweredListing | undefined {
  if (!isRecord(value) || !Array.isArray(value.entries)) return undefined;
  if (value.path != null && typeof value.path !== 'string') return undefined;
  return { path: value.path ?? undefined, entries: value.entries };
}
