import { BridgeError } from '../bridge-error.ts';

/** Makes the error for an argument of a handover, such as `chunk.index`, and what is wrong with it. */
export function invalid(argument: string, problem: string): BridgeError {
  return new BridgeError('invalid_argument', { problem: `${argument} ${problem}`, argument });
}
