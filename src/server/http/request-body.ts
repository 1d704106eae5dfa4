import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';

/** Thrown for a request body that cannot be used, with the HTTP status to respond with. */
export class BadBody extends Error {
  readonly status: 400 | 413 | 415;

  constructor(status: 400 | 413 | 415, message: string) {
    super(message);
    this.name = 'BadBody';
    this.status = status;
  }
}

/**
 * Reads a JSON body of at most `maxBytes`. Raises `BadBody` for one that is too large, compressed or not JSON in UTF-8, and rejects
 * with another error if the client closes the connection.
 */
export async function readJson(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') throw new BadBody(415, 'Unsupported Media Type: the body must not be compressed');
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const bytes = await bodyBytes(request, maxBytes);
  try {
    // Decoding would replace bytes that are not UTF-8 with U+FFFD, which a write would then store in a file.
    if (!isUtf8(bytes)) throw new Error('not UTF-8');
    return JSON.parse(bytes.toString('utf8', startsWithBom(bytes) ? 3 : 0));
  } catch {
    throw new BadBody(400, 'Parse error: the body is not valid JSON');
  }
}

/** Reads a body of at most `maxBytes`. Listens to events, which costs less than an async iterator. */
function bodyBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (): void => {
      request.off('data', onData).off('end', onEnd).off('error', onFailure).off('close', onFailure);
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      chunks.push(chunk);
      if (size <= maxBytes) return;
      settle();
      reject(tooLarge(maxBytes));
    };
    const onEnd = (): void => {
      settle();
      const [first, ...more] = chunks;
      resolve(first !== undefined && more.length === 0 ? first : Buffer.concat(chunks));
    };
    const onFailure = (): void => {
      settle();
      reject(new Error('the client broke off'));
    };
    request.on('data', onData).on('end', onEnd).on('error', onFailure).on('close', onFailure);
  });
}

function tooLarge(maxBytes: number): BadBody {
  return new BadBody(413, `Payload Too Large: the body must not exceed ${maxBytes} bytes`);
}

/** Reports whether a body starts with a byte order mark, which is not part of the text. */
function startsWithBom(bytes: Buffer): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}
