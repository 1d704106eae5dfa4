import type { Question } from '../asking/sampling.ts';

/**
 * Thrown to end a run that cannot go on before the client has answered. Not a failure: the client calls again with its
 * answers, and the tool runs again from its beginning.
 */
export class InputRequired extends Error {
  readonly questions: ReadonlyMap<string, Question>;
  /** How long the client has. */
  readonly timeoutMs: number;

  constructor(questions: ReadonlyMap<string, Question>, timeoutMs: number) {
    super('input needed');
    this.name = 'InputNeeded';
    this.questions = questions;
    this.timeoutMs = timeoutMs;
  }
}
