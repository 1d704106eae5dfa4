import {
  type ListResourcesResult,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server';
import { recordViolation } from '../../../audit/record-call.ts';
import { RingfenceError } from '../../../errors.ts';
import { byCodePoint } from '../../../runtime/unicode.ts';
import type { Client } from '../../../tools/client.ts';
import { MAX_RESULT_BYTES } from '../../../wire/result-size.ts';
import type { Service } from '../../call/service.ts';
import type { ClientFiles } from '../../clients/agent-files.ts';
import type { Peer } from '../../clients/peer.ts';
import { mimeType } from './mime-type.ts';

const SCHEME = 'agent://';
const PAGE_LENGTH = 500;

/** The answer to `resources/templates/list`: how a client addresses a file that it handed over. */
export const RESOURCE_TEMPLATES = [
  {
    uriTemplate: `${SCHEME}{path}{?root}`,
    name: 'handed-over file',
    description:
      'A file that you handed over, by its path from the top of the project, and its root if there are several.',
  },
];

/**
 * Shows the files that one client has handed over as MCP resources. It never asks the client, and shows no other
 * client's files.
 */
export class Resources {
  readonly #service: Service;
  readonly #peer: Peer;

  constructor(service: Service, peer: Peer) {
    this.#service = service;
    this.#peer = peer;
  }

  /**
   * Lists files root by root, in the order of their paths. The cursor is a root and a path, so a page stays correct if
   * files come or go in between.
   */
  list(cursor?: string): ListResourcesResult {
    const after = cursor === undefined ? undefined : decodeCursor(cursor);
    const found = this.#all().flatMap(({ root, bridge }, index) => {
      if (after !== undefined && index < after.index) return [];
      const from = after?.index === index ? after.path : undefined;
      return bridge.cache
        .paths()
        .filter((path) => from === undefined || byCodePoint(path, from) > 0)
        .sort(byCodePoint)
        .map((path) => ({ root: index === 0 ? undefined : root, index, path, bridge }));
    });
    const page = found.slice(0, PAGE_LENGTH);
    const last = found.length > PAGE_LENGTH ? page.at(-1) : undefined;
    return {
      resources: page.flatMap(({ root, path, bridge }) => {
        const file = bridge.cache.peek(path);
        if (file === undefined) return [];
        const type = mimeType(path, file.encoding !== undefined);
        return [{ uri: uriOf(path, root), name: path, mimeType: type, size: file.bytes }];
      }),
      ...(last !== undefined && { nextCursor: encodeCursor(last) }),
    };
  }

  /**
   * Returns a file from the cache, and counts a hit or a miss. Raises `ResourceNotFoundError`, also for a path that is
   * not allowed, and `ProtocolError` for a file that is too large for one response.
   */
  read(uri: string): ReadResourceResult {
    const address = addressOf(uri);
    const file = address === undefined ? undefined : this.#cached(address);
    if (file === undefined) throw new ResourceNotFoundError(uri);
    const isText = file.text !== undefined && (file.encoding !== undefined || !file.bytes.includes(0));
    const base = { uri, mimeType: mimeType(file.path, isText) };
    const contents = isText ? { ...base, text: file.text ?? '' } : { ...base, blob: file.bytes.toString('base64') };
    if (Buffer.byteLength(JSON.stringify(contents)) > MAX_RESULT_BYTES) {
      const message = `Too large for one answer: ${file.bytes.length} bytes`;
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, message, { reason: 'too_large' });
    }
    return { contents: [contents] };
  }

  #cached({ path, root }: Address) {
    const all = this.#all();
    const found = root === undefined ? all[0] : all.find((files) => files.root === root);
    try {
      return found?.bridge.cached(path);
    } catch (error) {
      if (!(error instanceof RingfenceError)) throw error;
      const { logger, activity, dialect } = this.#service;
      const client = this.#peer.client as Client;
      const fields = { operation: 'read_resource', dialect: dialect.name, client: client.name };
      recordViolation(logger, { path, client, fields, failure: { code: error.code, cause: error } }, activity);
      return undefined;
    }
  }

  /** Returns nothing for a client without an identity, and leaves out roots that the client may not know of. */
  #all(): readonly ClientFiles[] {
    return this.#service.agentFiles?.all(this.#peer) ?? [];
  }
}

/** A file that was handed over; without a root, one of the first root. */
interface Address {
  readonly path: string;
  readonly root?: string | undefined;
}

interface Position {
  /** The position of the root among those that the client may know of. */
  readonly index: number;
  readonly path: string;
}

const encodeCursor = ({ index, path }: Position): string => Buffer.from(`${index}/${path}`).toString('base64url');

function decodeCursor(cursor: string): Position {
  const [, index, path] = /^(\d+)\/(.*)$/s.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  return { index: Number(index ?? 0), path: path ?? '' };
}

/** Percent-encodes a path as a URI, except for its slashes. */
function uriOf(path: string, root: string | undefined): string {
  const query = root === undefined ? '' : `?root=${encodeURIComponent(root)}`;
  return SCHEME + path.split('/').map(encodeURIComponent).join('/') + query;
}

function addressOf(uri: string): Address | undefined {
  if (!uri.toLowerCase().startsWith(SCHEME)) return undefined;
  const [path = '', root] = uri.slice(SCHEME.length).split('?root=');
  try {
    return { path: decodeURIComponent(path), root: root === undefined ? undefined : decodeURIComponent(root) };
  } catch {
    return undefined;
  }
}
