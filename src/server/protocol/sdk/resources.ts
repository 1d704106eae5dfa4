import {
  type ListResourcesResult,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server';
import type { FilesystemBridge } from '../../../agent/bridge/filesystem-bridge.ts';
import { recordViolation } from '../../../audit/record-call.ts';
import { RingfenceError } from '../../../errors.ts';
import { byCodePoint } from '../../../runtime/unicode.ts';
import type { Client } from '../../../tools/client.ts';
import { MAX_RESULT_BYTES } from '../../../wire/result-size.ts';
import type { Peer } from '../../call/peer.ts';
import type { Service } from '../../call/service.ts';
import { mimeType } from './mime-type.ts';

const SCHEME = 'agent://';
const PAGE_LENGTH = 500;

/** The answer to `resources/templates/list`: how a client addresses a file that it handed over. */
export const RESOURCE_TEMPLATES = [
  {
    uriTemplate: `${SCHEME}{path}`,
    name: 'handed-over file',
    description: 'A file that you handed over, by its path from the top of the project.',
  },
];

/** Shows the files that one client has handed over as MCP resources. It never asks the client, and shows no other client's files. */
export class Resources {
  readonly #service: Service;
  readonly #peer: Peer;

  constructor(service: Service, peer: Peer) {
    this.#service = service;
    this.#peer = peer;
  }

  /** Lists files in the order of their paths. The cursor is a path, so a page stays correct if files come or go in between. */
  list(cursor?: string): ListResourcesResult {
    const bridge = this.#bridge();
    const after = cursor === undefined ? undefined : Buffer.from(cursor, 'base64url').toString();
    const paths = (bridge?.cache.paths() ?? [])
      .filter((path) => after === undefined || byCodePoint(path, after) > 0)
      .sort(byCodePoint);
    const page = paths.slice(0, PAGE_LENGTH);
    const last = paths.length > PAGE_LENGTH ? page.at(-1) : undefined;
    return {
      resources: page.flatMap((path) => {
        const file = bridge?.cache.peek(path);
        if (file === undefined) return [];
        const type = mimeType(path, file.encoding !== undefined);
        return [{ uri: uriOf(path), name: path, mimeType: type, size: file.bytes }];
      }),
      ...(last !== undefined && { nextCursor: Buffer.from(last).toString('base64url') }),
    };
  }

  /**
   * Returns a file from the cache, and counts a hit or a miss. Raises `ResourceNotFoundError`, also for a path that is not
   * allowed, and `ProtocolError` for a file that is too large for one response.
   */
  read(uri: string): ReadResourceResult {
    const path = pathOf(uri);
    const file = path === undefined ? undefined : this.#cached(path);
    if (path === undefined || file === undefined) throw new ResourceNotFoundError(uri);
    const isText = file.text !== undefined && (file.encoding !== undefined || !file.bytes.includes(0));
    const base = { uri, mimeType: mimeType(file.path, isText) };
    const contents = isText ? { ...base, text: file.text ?? '' } : { ...base, blob: file.bytes.toString('base64') };
    if (Buffer.byteLength(JSON.stringify(contents)) > MAX_RESULT_BYTES) {
      const message = `Too large for one answer: ${file.bytes.length} bytes`;
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, message, { reason: 'too_large' });
    }
    return { contents: [contents] };
  }

  #cached(path: string) {
    try {
      return this.#bridge()?.cached(path);
    } catch (error) {
      if (!(error instanceof RingfenceError)) throw error;
      const { logger, activity, dialect } = this.#service;
      const client = this.#peer.client as Client;
      const fields = { operation: 'read_resource', dialect: dialect.name, client: client.name };
      recordViolation(logger, { path, client, fields, failure: { code: error.code, cause: error } }, activity);
      return undefined;
    }
  }

  /** Returns undefined for a client without an identity, and for one that may not know of the root of these files. */
  #bridge(): FilesystemBridge | undefined {
    return this.#service.agentFiles?.all(this.#peer)[0]?.bridge;
  }
}

/** Percent-encodes a path as a URI, except for its slashes. */
function uriOf(path: string): string {
  return SCHEME + path.split('/').map(encodeURIComponent).join('/');
}

function pathOf(uri: string): string | undefined {
  if (!uri.toLowerCase().startsWith(SCHEME)) return undefined;
  try {
    return decodeURIComponent(uri.slice(SCHEME.length));
  } catch {
    return undefined;
  }
}
