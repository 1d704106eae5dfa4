import {
  type ListResourcesResult,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server';
import type { FilesystemBridge } from '../../../agent/bridge/filesystem-bridge.ts';
import { recordViolation } from '../../../audit/events.ts';
import { RingfenceError } from '../../../errors.ts';
import { byCodePoint } from '../../../runtime/code-point-order.ts';
import type { Client } from '../../../tools/client.ts';
import { MAX_RESULT_BYTES } from '../../../wire/result-size.ts';
import type { Peer } from '../../call/peer.ts';
import type { Service } from '../../call/service.ts';
import { mimeType } from './mime-type.ts';

const SCHEME = 'agent://';
const PAGE = 500;

/** How a client gets back at what it handed over. */
export const RESOURCE_TEMPLATES = [
  {
    uriTemplate: `${SCHEME}{path}`,
    name: 'handed-over file',
    description: 'A file that you handed over, by its path from the top of the project.',
  },
];

/** What one client has handed over, as resources of the protocol. Nobody is asked for anything, and nobody else's is seen. */
export class Resources {
  readonly #service: Service;
  readonly #peer: Peer;

  constructor(service: Service, peer: Peer) {
    this.#service = service;
    this.#peer = peer;
  }

  /** In the order of their paths, so that a page goes on where the one before it ended, whatever happened meanwhile. */
  list(cursor?: string): ListResourcesResult {
    const bridge = this.#bridge();
    const after = cursor === undefined ? undefined : Buffer.from(cursor, 'base64url').toString();
    const paths = (bridge?.cache.paths() ?? [])
      .filter((path) => after === undefined || byCodePoint(path, after) > 0)
      .sort(byCodePoint);
    const page = paths.slice(0, PAGE);
    const last = paths.length > PAGE ? page.at(-1) : undefined;
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

  /** Counts as a hit or a miss. What is not there is not found, and so is what could never be. */
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

  /** Nothing is kept for a client that nobody could tell from another, nor for one that may not know of the root. */
  #bridge(): FilesystemBridge | undefined {
    const { agentFiles: agent, agentRoot } = this.#service;
    const { client, roots } = this.#peer;
    if (client === undefined || (agentRoot !== undefined && !roots.has(agentRoot))) return undefined;
    return agent?.of(client.key);
  }
}

/** Characters that mean something in an address are escaped; slashes are not. */
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
