import type { IncomingMessage } from 'node:http';
import type { HeldBytes } from '../limits/held-bytes.ts';
import { parseMessage, RefusedMessage } from '../protocol/parse-message.ts';
import { SHARE_TAKEN } from './http-limits.ts';
import type { HttpError } from './sdk-response.ts';

/**
 * What Node takes for a chunk beside its bytes. Without it, a body of chunks of one byte would take hundreds of times
 * its size.
 */
const CHUNK_BYTES = 512;
/** A body of so many chunks, which are so small on average, is an attack. */
const MANY_CHUNKS = 2_000;
const SMALL_CHUNK = 64;

/** Thrown for a request body that cannot be used, with what to respond with. */
export class BadBody extends Error {
  readonly response: HttpError;

  constructor(response: HttpError) {
    super(response.message);
    this.name = 'BadBody';
    this.response = response;
  }
}

/**
 * Reads a JSON body of at most `maxBytes`, which counts as held from the moment that it arrives. Raises `BadBody` for
 * one that is too large, compressed or that `parseMessage` refuses, or for which there is no memory. Rejects with
 * another error if the client closes the connection.
 */
export async function readJson(request: IncomingMessage, maxBytes: number, held: HeldBytes): Promise<unknown> {
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') {
    throw new BadBody({ status: 415, message: 'Unsupported Media Type: the body must not be compressed' });
  }
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const bytes = await bodyBytes(request, maxBytes, held);
  // From here on it is held twice: as bytes, and as what they are parsed into.
  held.set(2 * bytes.length);
  try {
    return parseMessage(bytes);
  } catch (error) {
    if (!(error instanceof RefusedMessage)) throw error;
    throw new BadBody({ status: 400, code: error.code, message: error.message });
  }
}

/** Reads a body of at most `maxBytes`. Listens to events, which costs less than an async iterator. */
function bodyBytes(request: IncomingMessage, maxBytes: number, held: HeldBytes): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (): void => {
      request.off('data', onData).off('end', onEnd).off('error', onFailure).off('close', onFailure);
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      chunks.push(chunk);
      if (size > maxBytes) refuse(tooLarge(maxBytes));
      // Each chunk costs more time than a small one is worth.
      else if (chunks.length > MANY_CHUNKS && size < chunks.length * SMALL_CHUNK) request.socket.destroy();
      else if (!held.tryGrow(chunk.length + CHUNK_BYTES)) refuse(new BadBody(SHARE_TAKEN));
    };
    const refuse = (problem: BadBody): void => {
      settle();
      chunks.length = 0;
      reject(problem);
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
  return new BadBody({ status: 413, message: `Payload Too Large: the body must not exceed ${maxBytes} bytes` });
}
