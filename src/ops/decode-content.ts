import { base64ToBytes, type Encoding, textToBytes } from './content.ts';

/** Content as bytes, where its encoding is part of the contract: whatever does not fit it is `invalid_encoding`. */
export function decodeContent(content: string, encoding: Encoding, argument: string): Buffer {
  return (encoding === 'base64' ? base64ToBytes : textToBytes)(content, argument);
}
