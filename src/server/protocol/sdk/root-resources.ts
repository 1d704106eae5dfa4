import {
  type CompleteRequestParams,
  type CompleteResult,
  type ListResourcesResult,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  type Resource,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server';
import { type CallFailure, recordCall } from '../../../audit/record-call.ts';
import { RingfenceError } from '../../../errors.ts';
import { FenceError, ROOT_PATH, type Root } from '../../../fence/index.ts';
import { encodeContent, looksBinary } from '../../../files/encoding.ts';
import { type NamedEntry, peekFolder } from '../../../files/list/peek-folder.ts';
import { readFile } from '../../../files/read/read-file.ts';
import { byCodePoint } from '../../../runtime/unicode.ts';
import type { Capability } from '../../../tools/capabilities.ts';
import { type CallError, ToolError } from '../../../tools/errors.ts';
import type { NamedRoot } from '../../../tools/roots.ts';
import { MAX_RESULT_BYTES } from '../../../wire/result-size.ts';
import type { Service } from '../../call/service.ts';
import { anonymousClient, type Peer } from '../../clients/peer.ts';
import { knownMimeType, mimeType } from './mime-type.ts';

/** The template of a file's URI. A path may be written with or without percent-encoding of its reserved characters. */
const URI_TEMPLATE = 'ringfence://{root}/{+path}';
const URI = /^ringfence:\/\/([^/]*)\/?(.*)$/is;

/** How many files one page of a list has. */
const PAGE_LENGTH = 500;
/** How many entries of a folder are looked at for a list or a completion. */
const MAX_ENTRIES = 20_000;
/** The most values that the protocol allows in one completion. */
const MAX_COMPLETIONS = 100;

/** The answer to `resources/templates/list` for the files of roots. */
export const ROOT_TEMPLATES = [
  { uriTemplate: URI_TEMPLATE, name: 'file', description: 'A file of a root (see list_roots), by its path in it.' },
];

interface FileAddress {
  readonly root: string;
  readonly path: string;
}

/**
 * Shows the files of roots as MCP resources, each root as far as it allows: reading needs `read_file`, listing and
 * completing need `list_folder` too. Of a root of client-side files it shows what is cached, and never asks the client.
 */
export class RootResources {
  readonly #service: Service;
  readonly #peer: Peer;

  constructor(service: Service, peer: Peer) {
    this.#service = service;
    this.#peer = peer;
  }

  /**
   * Lists the files directly in each local root, in the order of the config, then by name. The cursor holds the last
   * root and name, so a page stays correct if files come or go in between. Raises `ProtocolError` for a cursor that is
   * none.
   */
  list(cursor?: string): ListResourcesResult {
    const after = cursor === undefined ? undefined : parseCursor(cursor);
    const resources: Resource[] = [];
    let waiting = after !== undefined;
    for (const { kind, root } of this.#allowing('list_folder')) {
      if (kind === 'agent') continue;
      const isCurrent = root.name === after?.root;
      if (waiting && !isCurrent) continue;
      waiting = false;
      const names = topLevelFiles(root).filter((name) => !isCurrent || byCodePoint(name, after.path) > 0);
      for (const name of names) {
        const last = resources.at(-1);
        if (resources.length === PAGE_LENGTH && last !== undefined) return { resources, nextCursor: cursorOf(last) };
        const resource = describe(root, name);
        if (resource !== undefined) resources.push(resource);
      }
    }
    return { resources };
  }

  /**
   * Reads a file and writes one line to the log. Raises `ResourceNotFoundError` for a file or root that there is not,
   * and `ProtocolError` for one that may not be read or is too large.
   */
  async read(uri: string): Promise<ReadResourceResult> {
    const started = performance.now();
    const { logger, activity, dialect, running } = this.#service;
    const address = parseUri(uri);
    const client = this.#peer.client ?? anonymousClient();
    const call = running.start();
    const end = (responseBytes: number, failure?: CallFailure): void => {
      const durationMs = performance.now() - started;
      const event = { tool: 'resources/read', dialect: dialect.name, client, durationMs, responseBytes, failure };
      recordCall(logger, { ...event, root: address?.root, path: address?.path, about: {} }, activity);
      running.end(call);
    };
    try {
      if (address === undefined) throw new FenceError('not_found', {}, { path: uri });
      const bytes = await this.#bytesOf(address, call.signal);
      const contents = contentsOf(uri, address.path, bytes);
      end(bytes.length);
      return { contents: [contents] };
    } catch (thrown) {
      const error = (thrown instanceof RingfenceError ? thrown : new ToolError('internal', {})) as CallError;
      end(0, { code: error.code, cause: thrown });
      if (error.code === 'not_found' || error.code === 'unknown_root') throw new ResourceNotFoundError(uri);
      const message = dialect.formatError(error, { tool: { name: 'read_file' }, args: { ...address } });
      const code = error.code === 'internal' ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams;
      throw new ProtocolError(code, message, { reason: error.code });
    }
  }

  /** Completes the root or the path of the template. A root or folder that may not be listed has no completions. */
  complete({ ref, argument, context }: CompleteRequestParams): CompleteResult {
    if (ref.type !== 'ref/resource' || ref.uri !== URI_TEMPLATE) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'there is nothing to complete for this reference');
    }
    const values = argument.name === 'root' ? this.#rootNames() : this.#paths(argument.value, context?.arguments?.root);
    const matching = values.filter((value) => value.startsWith(argument.value));
    const shown = matching.slice(0, MAX_COMPLETIONS);
    return { completion: { values: shown, total: matching.length, hasMore: shown.length < matching.length } };
  }

  async #bytesOf({ root: name, path }: FileAddress, signal: AbortSignal): Promise<Buffer> {
    const found = this.#peer.roots.pinned().find(name, ['read_file']);
    const { settings, scheduler, agentFiles } = this.#service;
    if (found.kind !== 'agent') {
      const options = { maxBytes: settings.limits.maxFullReadSize };
      return (await readFile(found.root, found.root.parse(path), options, { signal, scheduler })).bytes;
    }
    const cached = this.#peer.client && agentFiles?.find(this.#peer, name)?.cached(path);
    if (cached === undefined) throw new FenceError('not_found', {}, { path, root: name });
    return cached.bytes;
  }

  #rootNames(): string[] {
    return this.#allowing().map(({ root }) => root.name);
  }

  #paths(value: string, rootName: string | undefined): string[] {
    const roots = this.#allowing('list_folder');
    const found =
      rootName === undefined && roots.length === 1 ? roots[0] : roots.find(({ root }) => root.name === rootName);
    if (found === undefined) return [];
    if (found.kind === 'agent') {
      const bridge = this.#peer.client && this.#service.agentFiles?.find(this.#peer, found.root.name);
      return (bridge?.cache.paths() ?? []).toSorted(byCodePoint);
    }
    const folder = value.slice(0, value.lastIndexOf('/') + 1);
    return entriesIn(found.root, folder)
      .map(({ name, type }) => `${folder}${name}${type === 'directory' ? '/' : ''}`)
      .sort(byCodePoint);
  }

  /** Returns the roots that allow `read_file` and what else is needed. */
  #allowing(...more: Capability[]): NamedRoot[] {
    const needs: Capability[] = ['read_file', ...more];
    return this.#peer.roots.all().filter(({ allowed }) => needs.every((need) => allowed.has(need)));
  }
}

/** Whether a URI has the form of a file of a root. */
export function isRootUri(uri: string): boolean {
  return URI.test(uri);
}

/** Returns the URI of a file of a root. */
function rootUri(root: string, path: string): string {
  return `ringfence://${encodeURIComponent(root)}/${path.split('/').map(encodeURIComponent).join('/')}`;
}

function parseUri(uri: string): FileAddress | undefined {
  const [, root = '', path = ''] = URI.exec(uri) ?? [];
  try {
    return { root: decodeURIComponent(root), path: decodeURIComponent(path) };
  } catch {
    return undefined;
  }
}

function contentsOf(uri: string, path: string, bytes: Buffer): ReadResourceResult['contents'][number] {
  const { content, encoding } = encodeContent(bytes);
  const isText = encoding === 'utf-8' && !looksBinary(bytes);
  const base = { uri, mimeType: mimeType(path, isText) };
  const contents = isText ? { ...base, text: content } : { ...base, blob: bytes.toString('base64') };
  const size = Buffer.byteLength(JSON.stringify(contents));
  if (size > MAX_RESULT_BYTES) throw new ToolError('result_too_large', { size, limit: MAX_RESULT_BYTES }, { path });
  return contents;
}

function topLevelFiles(root: Root): string[] {
  return entriesIn(root, '')
    .flatMap(({ name, type }) => (type === 'file' ? [name] : []))
    .sort(byCodePoint);
}

/** Returns the entries of a folder; none if it cannot be listed. */
function entriesIn(root: Root, folder: string): NamedEntry[] {
  try {
    return peekFolder(root, root.parse(folder), MAX_ENTRIES);
  } catch (error) {
    if (error instanceof RingfenceError) return [];
    throw error;
  }
}

/** Describes a file of a root's top level; undefined if it is gone meanwhile. */
function describe(root: Root, name: string): Resource | undefined {
  using dir = root.openDir(ROOT_PATH);
  const stats = dir.statLite(name);
  if (stats?.type !== 'file') return undefined;
  const type = knownMimeType(name);
  const uri = rootUri(root.name, name);
  return { uri, name, title: `${root.name}/${name}`, ...(type !== undefined && { mimeType: type }), size: stats.size };
}

function cursorOf({ uri }: Resource): string {
  return Buffer.from(uri).toString('base64url');
}

function parseCursor(cursor: string): FileAddress {
  const uri = Buffer.from(cursor, 'base64url').toString();
  const address = isRootUri(uri) ? parseUri(uri) : undefined;
  if (address === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'unknown cursor');
  return address;
}
