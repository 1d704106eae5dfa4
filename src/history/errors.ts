import { RingfenceError } from '../errors.ts';

/** The codes of expected failures of the history, with what else is known about each. */
export type HistoryErrorDetails = {
  /** A file is larger than all that the history may keep, and the operator wants such files to stay. */
  too_large_to_keep: { readonly size: number; readonly limit: number };
};

/** A code of `HistoryError`. */
export type HistoryErrorCode = keyof HistoryErrorDetails;

/** An expected failure of the history. */
export class HistoryError<C extends HistoryErrorCode = HistoryErrorCode> extends RingfenceError<
  HistoryErrorDetails,
  C
> {}

/** Raised for a name that a checkpoint cannot have. No tool makes checkpoints. */
export class CheckpointError extends RingfenceError<
  { invalid_checkpoint: { readonly name: string } },
  'invalid_checkpoint'
> {
  constructor(name: string) {
    super('invalid_checkpoint', { name });
  }
}
