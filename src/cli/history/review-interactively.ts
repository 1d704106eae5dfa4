import {
  acceptHunksOf,
  acceptUnits,
  completeReview,
  decidableHunks,
  type Hunk,
  planTakeBackOf,
  type ReviewUnit,
} from '../../review/index.ts';
import { CommandError } from '../terminal/command-error.ts';
import { type Output, printNote } from '../terminal/output.ts';
import { Questions } from '../terminal/questions.ts';
import { applyPlans, showPlans } from './carry-out.ts';
import { showDiff, showHunk } from './show-diff.ts';
import { describeEntry, showSummary, type TargetReview, takeBackHunksOf } from './target-review.ts';

/** What a person may answer about an entry. */
type Answer = 'accept' | 'take back' | 'hunks' | 'skip' | 'quit' | 'accept all' | 'take back all';

const ANSWERS: Readonly<Record<string, Answer>> = {
  a: 'accept',
  t: 'take back',
  h: 'hunks',
  s: 'skip',
  q: 'quit',
  A: 'accept all',
  T: 'take back all',
};
const HELP =
  'a: accept, t: take back, h: decide on each hunk, s: leave for later, q: stop; A, T: all that is left, too';

/** Asks the person at the terminal about each entry of reviews, and does at once what is decided. */
export async function reviewInteractively(
  output: Output,
  reviews: readonly TargetReview[],
  suffix: string,
): Promise<void> {
  using questions = new Questions();
  for (const each of reviews) {
    showSummary(output, each);
    const session = new Session({ output, questions, suffix, ...each });
    if (!(await session.run())) return;
  }
}

interface SessionParts extends TargetReview {
  readonly output: Output;
  readonly questions: Questions;
  readonly suffix: string;
}

/** The review of one root by a person. */
class Session {
  readonly #parts: SessionParts;
  readonly #accepted: ReviewUnit[] = [];
  /** The ids of the changes that taking something back was. */
  readonly #made: string[] = [];
  #left = 0;
  #forAll: Answer | undefined;

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  /** Asks about every entry. Returns false if the person wants to stop. */
  async run(): Promise<boolean> {
    const { output, review } = this.#parts;
    let isStopped = false;
    for (const unit of review.units) {
      if (isStopped) this.#left += 1;
      else isStopped = !(await this.#decide(unit));
    }
    if (this.#left > 0) {
      await acceptUnits(review, this.#accepted);
      output.line(`${this.#left} left for later`);
    } else if (review.units.length > 0) {
      const checkpoint = await completeReview(review, { accepted: this.#accepted, made: this.#made });
      if (checkpoint !== undefined) output.line(`everything is decided: checkpoint ${checkpoint.name}`);
    }
    return !isStopped;
  }

  /** Returns false if the person wants to stop. */
  async #decide(unit: ReviewUnit): Promise<boolean> {
    const { output } = this.#parts;
    const hunks = decidableHunks(unit);
    output.line();
    showDiff(output, unit.diff, unit.content());
    for (const { diff } of unit.below) output.line(`  ${describeEntry(diff)}`);
    const answer = this.#forAll ?? (await this.#ask(`${describeEntry(unit.diff)}?`, hunks.length > 1));
    if (answer === 'accept all') this.#forAll = 'accept';
    if (answer === 'take back all') this.#forAll = 'take back';
    switch (answer) {
      case 'accept':
      case 'accept all':
        this.#accepted.push(unit);
        return true;
      case 'take back':
      case 'take back all':
        await this.#attempt(() => this.#takeBack(unit, hunks));
        return true;
      case 'hunks':
        return this.#decideHunks(unit, hunks);
      default:
        this.#left += 1;
        return answer === 'skip';
    }
  }

  async #takeBack(unit: ReviewUnit, hunks: readonly Hunk[]): Promise<void> {
    const { output, target, review, suffix } = this.#parts;
    if (unit.isPartlyAccepted) {
      await this.#takeBackHunks(unit, hunks);
      return;
    }
    const plans = planTakeBackOf(review, unit, false).map((plan) => ({ target, plan }));
    showPlans(output, plans);
    this.#made.push(...(await applyPlans(output, plans, suffix)));
  }

  async #takeBackHunks(unit: ReviewUnit, hunks: readonly Hunk[]): Promise<void> {
    const change = await takeBackHunksOf(this.#parts.target, unit, hunks);
    if (change !== undefined) this.#made.push(change);
  }

  /** Returns false if the person wants to stop. */
  async #decideHunks(unit: ReviewUnit, hunks: readonly Hunk[]): Promise<boolean> {
    const { output, review } = this.#parts;
    const [accepted, taken]: [Hunk[], Hunk[]] = [[], []];
    let answer: Answer = 'skip';
    for (const hunk of hunks) {
      showHunk(output, hunk, true);
      answer = await this.#ask(`hunk ${hunk.number} of ${hunks.length}?`, false);
      if (answer === 'quit') break;
      if (answer.startsWith('accept')) accepted.push(hunk);
      if (answer.startsWith('take')) taken.push(hunk);
    }
    if (accepted.length + taken.length < hunks.length) this.#left += 1;
    if (accepted.length > 0) await acceptHunksOf(review, unit, accepted);
    await this.#attempt(() => this.#takeBackHunks(unit, taken));
    return answer !== 'quit';
  }

  /** Does something that newer work may be in the way of. Then it is left for later. */
  async #attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      printNote(error.message);
      this.#left += 1;
    }
  }

  async #ask(question: string, hasHunks: boolean): Promise<Answer> {
    for (;;) {
      const written = await this.#parts.questions.ask(`${question} [a,t${hasHunks ? ',h' : ''},s,q,A,T,?] `);
      const answer = written === undefined ? 'quit' : ANSWERS[written];
      if (answer !== undefined && (answer !== 'hunks' || hasHunks)) return answer;
      printNote(HELP);
    }
  }
}
