import type { ResultForm } from '../../../tools/result-form.ts';
import { concatJson, type JsonChunks } from '../../../wire/json-chunks.ts';
import type { Progress } from '../../call/running/progress.ts';
import { DESCRIPTION_CACHE, type ServerDescription, toolsFor } from '../../description/server-description.ts';
import { MODERN_VERSION, type RequestId } from './plain-request.ts';

/** The revisions whose connections begin with `initialize`, newest first. */
export const LEGACY_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'] as const;

/**
 * Writes JSON-RPC responses byte for byte as the SDK writes them. Parts that are the same in every response are made
 * once, and a result is concatenated from parts that are already JSON, so nothing large is serialised twice.
 */
export class Responses {
  readonly #description: ServerDescription;
  /** The end of every 2026-07-28 result, and of those that may be cached. */
  readonly #stamp: string;
  readonly #cacheStamp: string;
  /** The tools as JSON, for each form of results that a client asked in, and the tools that it was made of. */
  readonly #tools = new Map<ResultForm, string>();
  #described: ServerDescription['tools'] | undefined;

  constructor(description: ServerDescription) {
    this.#description = description;
    const identity = `"_meta":${JSON.stringify({ 'io.modelcontextprotocol/serverInfo': description.serverInfo })}`;
    this.#stamp = `,"resultType":"complete",${identity}}`;
    this.#cacheStamp = `,"resultType":"complete",${JSON.stringify(DESCRIPTION_CACHE).slice(1, -1)},${identity}}`;
  }

  /** Returns the response to `initialize`: in the requested version if it is supported, else in the newest. */
  initialize(id: RequestId, requested: string): string {
    const { capabilities, serverInfo, instructions } = this.#description;
    const protocolVersion = LEGACY_VERSIONS.find((version) => version === requested) ?? LEGACY_VERSIONS[0];
    return response(
      id,
      JSON.stringify({ protocolVersion, capabilities, serverInfo, ...(instructions && { instructions }) }),
    );
  }

  /** Returns the response to `server/discover`. */
  discover(id: RequestId): string {
    const { capabilities, instructions } = this.#description;
    const known = { supportedVersions: [MODERN_VERSION], capabilities, ...(instructions && { instructions }) };
    return response(id, JSON.stringify(known).slice(0, -1) + this.#cacheStamp);
  }

  /** Returns the response to `tools/list`. */
  tools(id: RequestId, modern: boolean, form: ResultForm): string {
    if (this.#described !== this.#description.tools) {
      this.#described = this.#description.tools;
      this.#tools.clear();
    }
    let tools = this.#tools.get(form);
    if (tools === undefined) {
      tools = `{"tools":${JSON.stringify(toolsFor(this.#description, form))}`;
      this.#tools.set(form, tools);
    }
    return response(id, tools + (modern ? this.#cacheStamp : '}'));
  }

  ping(id: RequestId): string {
    return response(id, '{}');
  }

  /** Returns the response with a result, which is given as JSON without its closing brace. */
  result(id: RequestId, result: JsonChunks, modern: boolean): JsonChunks {
    return concatJson('{"result":', result, (modern ? this.#stamp : '}') + ending(id));
  }

  /**
   * Returns an error response. The message of an error without a JSON-RPC code is a bug's, which the client does not
   * see.
   */
  error(id: RequestId, thrown: unknown): string {
    const { code, message } = thrown as { code?: unknown; message?: string };
    const error = Number.isSafeInteger(code) ? { code, message } : { code: -32603, message: 'Internal error' };
    return JSON.stringify({ jsonrpc: '2.0', id, error });
  }

  /** Returns a progress notification. */
  progress(params: Progress): string {
    return JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params });
  }
}

function response(id: RequestId, result: string): string {
  return `{"result":${result}${ending(id)}`;
}

function ending(id: RequestId): string {
  return `,"jsonrpc":"2.0","id":${JSON.stringify(id)}}`;
}
