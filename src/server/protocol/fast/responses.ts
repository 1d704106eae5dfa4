import { concatJson, type JsonChunks } from '../../../wire/json-chunks.ts';
import type { Progress } from '../../call/progress.ts';
import { DESCRIPTION_CACHE, type ServerDescription } from '../../description/server-description.ts';
import { MODERN_VERSION, type RequestId } from './plain-request.ts';

/** The revisions that begin with `initialize`, the newest first. */
export const LEGACY_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'] as const;

/**
 * Answers as JSON, to the letter as the SDK writes them. What is the same in every answer is made once, and a result is put
 * together from its parts, so that nothing large is turned into JSON twice.
 */
export class Responses {
  readonly #description: ServerDescription;
  /** What ends every result of 2026-07-28, and those that may be cached. */
  readonly #stamp: string;
  readonly #cacheStamp: string;
  #tools: string | undefined;

  constructor(description: ServerDescription) {
    this.#description = description;
    const identity = `"_meta":${JSON.stringify({ 'io.modelcontextprotocol/serverInfo': description.serverInfo })}`;
    this.#stamp = `,"resultType":"complete",${identity}}`;
    this.#cacheStamp = `,"resultType":"complete",${JSON.stringify(DESCRIPTION_CACHE).slice(1, -1)},${identity}}`;
  }

  initialize(id: RequestId, wanted: string): string {
    const { capabilities, serverInfo, instructions } = this.#description;
    const protocolVersion = LEGACY_VERSIONS.find((version) => version === wanted) ?? LEGACY_VERSIONS[0];
    return answer(
      id,
      JSON.stringify({ protocolVersion, capabilities, serverInfo, ...(instructions && { instructions }) }),
    );
  }

  discover(id: RequestId): string {
    const { capabilities, instructions } = this.#description;
    const known = { supportedVersions: [MODERN_VERSION], capabilities, ...(instructions && { instructions }) };
    return answer(id, JSON.stringify(known).slice(0, -1) + this.#cacheStamp);
  }

  tools(id: RequestId, modern: boolean): string {
    this.#tools ??= `{"tools":${JSON.stringify(this.#description.tools)}`;
    return answer(id, this.#tools + (modern ? this.#cacheStamp : '}'));
  }

  ping(id: RequestId): string {
    return answer(id, '{}');
  }

  /** Takes the result without its closing brace. */
  result(id: RequestId, result: JsonChunks, modern: boolean): JsonChunks {
    return concatJson('{"result":', result, (modern ? this.#stamp : '}') + ending(id));
  }

  /** Only what was thrown for the client, with a code of the protocol, is told to it. */
  error(id: RequestId, thrown: unknown): string {
    const { code, message } = thrown as { code?: unknown; message?: string };
    const error = Number.isSafeInteger(code) ? { code, message } : { code: -32603, message: 'Internal error' };
    return JSON.stringify({ jsonrpc: '2.0', id, error });
  }

  progress(params: Progress): string {
    return JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params });
  }
}

function answer(id: RequestId, result: string): string {
  return `{"result":${result}${ending(id)}`;
}

function ending(id: RequestId): string {
  return `,"jsonrpc":"2.0","id":${JSON.stringify(id)}}`;
}
