import { RingfenceError } from '../errors.ts';
import type { FenceErrorDetails } from '../fence/index.ts';
import type { FileErrorDetails } from '../files/errors.ts';
import type { SearchErrorDetails } from '../search/index.ts';

/** Why a `SecurityPolicy` refuses a path. */
export type Violation = 'traversal' | 'absolute' | 'not_allowed' | 'link' | 'circle' | 'characters';

/** The details of every code that an operation on client-side files can raise, including those of the layers below. */
export type AgentErrorDetails = FenceErrorDetails &
  FileErrorDetails &
  SearchErrorDetails & {
    path_not_allowed: { readonly violation: Violation; readonly allowed: readonly string[] };
    /** The client does not support sampling, so the server cannot ask it for files. */
    sampling_unsupported: object;
    /** The client answered, but not in a usable form. */
    bad_answer: { readonly problem: string; readonly advice?: string };
    unsupported_encoding: { readonly encoding: string };
    undecodable: { readonly tried: readonly string[] };
    invalid_argument: { readonly problem: string; readonly argument?: string };
    timed_out: { readonly seconds: number };
    cancelled: object;
  };

/** A code that an operation on client-side files can raise. */
export type AgentErrorCode = keyof AgentErrorDetails;

/** An expected failure of an operation on client-side files. */
export class AgentError<C extends AgentErrorCode = AgentErrorCode> extends RingfenceError<AgentErrorDetails, C> {}
