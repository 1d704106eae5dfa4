import { RingfenceError } from '../errors.ts';
import type { Encoding } from './content.ts';

/**
 * Content that came in JSON, as bytes. Strict, since what does not fit would be changed silently: base64 has to be
 * canonical, with padding and nothing in between, and text must not hold a lone surrogate. Raises `invalid_encoding`.
 */
export function decodeContent(content: string, encoding: Encoding, argument: string): Buffer {
  const bytes = Buffer.from(content, encoding === 'base64' ? 'base64' : 'utf8');
  const fits = encoding === 'base64' ? bytes.toString('base64') === content : isWellFormed(content);
  if (!fits) throw new RingfenceError('invalid_encoding', { argument });
  return bytes;
}

function isWellFormed(text: string): boolean {
  return (text as string & { isWellFormed(): boolean }).isWellFormed();
}
