import { isCode, RingfenceError } from '../errors.ts';
import { base64ToBytes, type Encoding, textToBytes } from './content.ts';

/** Content as bytes, where its encoding is part of the contract: whatever does not fit it is `invalid_encoding`. */
export function decodeContent(content: string, encoding: Encoding, argument: string): Buffer {
  if (encoding === 'base64') return base64ToBytes(content, argument);
  try {
    return textToBytes(content, argument);
  } catch (error) {
    throw isCode(error, 'invalid_argument') ? new RingfenceError('invalid_encoding', { argument }) : error;
  }
}
