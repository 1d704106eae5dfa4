import { isUtf8 } from 'node:buffer';
import { FenceError } from '../../fence/index.ts';
import { FileError } from '../errors.ts';

/** Raises why a file cannot be edited as text: it is not there, or not in UTF-8. */
export function assertText(original: Buffer | undefined): asserts original is Buffer {
  if (original === undefined) throw new FenceError('not_found', {});
  if (!isUtf8(original)) throw new FileError('not_text', {});
}
