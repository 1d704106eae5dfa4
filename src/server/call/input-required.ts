import type { SampleParams } from '../../agent/sample.ts';
import type { Confirmation } from '../confirm/approve.ts';

/** A sampling request as it is sent: with tools only if the client declared that it can use them. */
export type SamplingRequest = Omit<SampleParams, 'tools'> & Partial<Pick<SampleParams, 'tools'>>;

/** A question to the client's model, or to the person who uses the client. */
export type Question = { readonly sample: SamplingRequest } | { readonly confirm: Confirmation };

/**
 * Thrown to end the run of a tool that cannot continue before the client has answered. It is not a failure: the client
 * calls again with its answers, and the tool runs again from the beginning.
 */
export class InputRequired extends Error {
  /** By the key under which the client sends its answer. */
  readonly questions: ReadonlyMap<string, Question>;
  /** How long the client has to answer. */
  readonly timeoutMs: number;

  constructor(questions: ReadonlyMap<string, Question>, timeoutMs: number) {
    super('input required');
    this.name = 'InputRequired';
    this.questions = questions;
    this.timeoutMs = timeoutMs;
  }
}
