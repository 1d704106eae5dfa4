import type { SampleParams } from '../../agent/sample.ts';

/** A question as it goes to the client: with tools only if the client declared that it can answer with one. */
export type Question = Omit<SampleParams, 'tools'> & Partial<Pick<SampleParams, 'tools'>>;

/**
 * Thrown to end a run that cannot go on before the client has answered. Not a failure: the client calls again with its
 * answers, and the tool runs again from its beginning.
 */
export class InputRequired extends Error {
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
