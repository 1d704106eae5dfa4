import * as z from 'zod';
import { DEFAULT_HISTORY, type HistoryOptions } from '../../history/index.ts';
import { argumentChecker, type CheckStyle } from '../../tools/check-arguments.ts';
import { parseDuration, parseSize } from './quantities.ts';

const quantity = z.union([z.number(), z.string()]).optional();

/** The keys of a root's `history`. */
const historySchema = z.strictObject({
  keep: quantity,
  max_bytes: quantity,
  over: z.enum(['allow', 'refuse']).default(DEFAULT_HISTORY.over),
});

interface HistoryCheckOptions {
  /** How messages name a key of `history`. */
  name(path: readonly PropertyKey[]): string;
  /** Raises an error for a problem, which names the key. */
  fail(problem: string): never;
}

/**
 * Returns how much history a root keeps, from what the config file says: `true` for the defaults, or an object. Undefined
 * if it keeps none.
 */
export function checkHistory(
  written: boolean | object | undefined,
  { name, fail }: HistoryCheckOptions,
): HistoryOptions | undefined {
  if (written === undefined || written === false) return undefined;
  const style: CheckStyle = { noun: 'key', name };
  const checked = argumentChecker(historySchema, style)(written === true ? {} : written);
  if ('problems' in checked) return fail(checked.problems.map(({ message }) => message).join('; '));
  const { keep, max_bytes: maxBytes, over } = checked.value;
  const refuse = (key: string, value: unknown, expected: string): never =>
    fail(`${name([key])} must be ${expected}, got ${JSON.stringify(value)}`);
  return {
    keepMs:
      keep === undefined
        ? DEFAULT_HISTORY.keepMs
        : (parseDuration(keep) ??
          refuse('keep', keep, 'a duration above 0 such as 7d, 12h or 30m, or a number of seconds')),
    maxBytes:
      maxBytes === undefined
        ? DEFAULT_HISTORY.maxBytes
        : (parseSize(maxBytes) ??
          refuse('max_bytes', maxBytes, 'a size above 0 such as 1GB or 500MB, or a whole number of bytes')),
    over,
  };
}
