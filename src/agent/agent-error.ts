import { RingfenceError } from '../errors.ts';
import type { FenceErrorDetails } from '../fence/index.ts';
import type { FileErrorDetails } from '../files/errors.ts';
import type { SearchErrorDetails } from '../search/pattern/search-error.ts';

/** What is wrong with a path that a policy refuses. */
export type Violation = 'traversal' | 'absolute' | 'not_allowed' | 'link' | 'circle' | 'characters';

/** What each code carries that is about files of the client's side. */
type OwnDetails = {
  path_not_allowed: { readonly violation: Violation; readonly allowed: readonly string[] };
  /** The client cannot be asked for files. */
  sampling_unsupported: object;
  /** The client's answer cannot be used. */
  bad_answer: { readonly problem: string; readonly advice?: string };
  unsupported_encoding: { readonly encoding: string };
  undecodable: { readonly tried: readonly string[] };
  invalid_argument: { readonly problem: string; readonly argument?: string };
  timed_out: { readonly seconds: number };
  cancelled: object;
};

/** What may go wrong with files of the client's side, including what the parts below raise. */
export type AgentErrorDetails = FenceErrorDetails & FileErrorDetails & SearchErrorDetails & OwnDetails;

export type AgentErrorCode = keyof AgentErrorDetails;

/** A failure to get a file from the client's side. */
export class AgentError<C extends AgentErrorCode = AgentErrorCode> extends RingfenceError<AgentErrorDetails, C> {}
