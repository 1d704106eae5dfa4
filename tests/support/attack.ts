import { spawn } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { fileURLToPath } from 'node:url';

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'attack', version: '0' },
};

/** A server under attack, as a client reaches it. */
export interface Target {
  readonly url: string;
  readonly token?: string | undefined;
}

/** A request that can be sent. */
export interface PostedCall {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Returns a call of a tool in 2026-07-28, which needs no session. */
export function callOf({ url, token }: Target, name: string, args: object): PostedCall {
  const params = { name, arguments: args, _meta: META };
  return {
    url,
    headers: {
      ...jsonHeaders(token),
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': name,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  };
}

/** Returns the bytes of a call. */
export function rawCall(target: Target, name: string, args: object): Buffer {
  const { url, headers, body } = callOf(target, name, args);
  return Buffer.from(rawHead(url, { ...headers, 'content-length': Buffer.byteLength(body) }) + body);
}

/** Returns the head of a POST. */
export function rawHead(url: string, headers: object): string {
  const { pathname, host } = new URL(url);
  const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${pathname} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

export function jsonHeaders(token?: string): Record<string, string> {
  return {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
}

/** Opens a plain connection that is read only when asked to. Whatever happens to it is no error. */
export async function connect({ url }: Target): Promise<net.Socket> {
  const { hostname, port } = new URL(url);
  const socket = net.connect({ host: hostname, port: Number(port) });
  socket.pause();
  socket.on('error', () => {});
  await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve));
  return socket;
}

/** Opens many connections, a few at once. */
export async function connectMany(target: Target, count: number): Promise<net.Socket[]> {
  const sockets: net.Socket[] = [];
  while (sockets.length < count) {
    const step = Math.min(50, count - sockets.length);
    sockets.push(...(await Promise.all(Array.from({ length: step }, () => connect(target)))));
  }
  return sockets;
}

/** Sends a message on a connection of its own. */
export async function post({ url, token }: Target, message: unknown) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...jsonHeaders(token), connection: 'close' },
    body: JSON.stringify(message),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

export const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'attack', version: '0' } },
};

/** What a server did while it was watched. */
export interface Watched {
  /** The most resident memory above that at the beginning, in MiB. */
  readonly memoryMiB: number;
  /** The 99th percentile of how long `/health` took, in ms. */
  readonly healthMs: number;
  readonly healthFailures: number;
  /** The part of the other client's calls that succeeded, and how long they took at the 99th percentile. */
  readonly served: number;
  readonly servedMs: number;
  readonly calls: number;
}

/**
 * Watches the memory and `/health` of a server process while it is attacked, and calls a tool as another client. Watches from a
 * process of its own, so that the work of the attacker is not taken for that of the server.
 */
export async function watch(pid: number, other: PostedCall, attack: () => Promise<void>): Promise<Watched> {
  const script = fileURLToPath(new URL('./watcher.js', import.meta.url));
  const health = new URL('/health', other.url).href;
  const child = spawn(process.execPath, [script, String(pid), health, JSON.stringify(other)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const ended = once(child, 'close');
  await once(child.stdout, 'data');
  try {
    await attack();
  } finally {
    child.stdin.end();
    await ended;
  }
  return JSON.parse(output.split('\n')[1] ?? '');
}
