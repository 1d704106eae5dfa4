import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, type ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { stringify } from 'yaml';
import { ChildTransport } from './child-transport.ts';

export const BIN = fileURLToPath(new URL('../../dist/bin.js', import.meta.url));

export type TransportName = 'http' | 'stdio';
export type Era = 'legacy' | 'modern';

interface RootSpec {
  readonly name: string;
  /** A folder of this machine; a root of kind `agent` has none. */
  readonly path?: string;
  readonly agent?: Readonly<Record<string, unknown>>;
  /** All tools if left out. */
  readonly allowed_tools?: readonly string[];
}

export interface RingfenceOptions {
  /** Default `http`. */
  readonly transport?: TransportName;
  /** `legacy` is the 2025 handshake, `modern` is 2026-07-28. Default `legacy`. */
  readonly era?: Era;
  readonly roots: readonly RootSpec[];
  /** More keys of the config file. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Which path to connect to over HTTP; the first that is served if left out. */
  readonly path?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** What the client shows over HTTP. */
  readonly token?: string;
  /** The client to connect, which says itself of which era it is; a new one if left out. */
  readonly client?: Client;
}

export interface CallResult {
  readonly isError: boolean;
  /** All text blocks, joined. */
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into results whose shape is what they check
  readonly structured: any;
  // biome-ignore lint/suspicious/noExplicitAny: the result as the client got it
  readonly raw: any;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (progress: { progress: number; total?: number }) => void;
}

// biome-ignore lint/suspicious/noExplicitAny: log lines are looked into by name
export type LogLine = Record<string, any>;

/** A server process with a real client connected to it. Dispose of it with `await using`. */
export interface Ringfence extends AsyncDisposable {
  readonly client: Client;
  readonly pid: number;
  /** Where the client connected to; empty on stdio. */
  readonly url: string;
  /** Calls a tool. A refusal by the protocol itself (an unknown tool) rejects. */
  call(tool: string, args?: Readonly<Record<string, unknown>>, options?: CallOptions): Promise<CallResult>;
  /** The log so far. A call's line may come a moment after its answer: `waitForLog` waits for it. */
  logs(): LogLine[];
  waitForLog(matches: (line: LogLine) => boolean): Promise<LogLine>;
  /** What the server wrote to stderr, as it is. */
  stderr(): string;
  /** Ends the server with a signal (default SIGTERM) and resolves with its exit code, null if the signal killed it. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** A new temporary folder under the real (link-free) temporary folder. */
export function tempDir(prefix = 'ringfence-'): string {
  return fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), prefix));
}

/** Writes a config file into a folder of its own and returns its path. */
export function writeConfig(config: unknown): string {
  const file = path.join(tempDir('ringfence-config-'), 'ringfence.yaml');
  fs.writeFileSync(file, typeof config === 'string' ? config : stringify(config));
  return file;
}

/** Starts `ringfence` from dist/ on a config made of the options, and connects a client to it. */
export async function startRingfence(options: RingfenceOptions): Promise<Ringfence> {
  const roots = options.roots.map(({ allowed_tools = ['*'], ...root }) => ({
    ...root,
    allowed_tools: [...allowed_tools],
  }));
  const config = writeConfig({ host: '127.0.0.1', port: 0, ...options.config, roots });
  const dispose = (): void => fs.rmSync(path.dirname(config), { recursive: true, force: true });
  const env = { ...process.env, ...options.env } as Record<string, string>;
  const client = options.client ?? newClient(options.era ?? 'legacy');
  return options.transport === 'stdio'
    ? overStdio(client, { config, env, dispose })
    : overHttp(client, { config, env, dispose, path: options.path, token: options.token });
}

export interface StdioCommand {
  /** The program that Node runs, by default `ringfence` from dist/. */
  readonly program?: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** This process's own if left out. */
  readonly cwd?: string;
  /** Default `legacy`. */
  readonly era?: Era;
  /** The client to connect; a new one if left out. */
  readonly client?: Client;
}

/** Starts a program that serves stdin and stdout, and connects a client to it. */
export async function startStdioCommand(command: StdioCommand): Promise<Ringfence> {
  const { program = BIN, args, env, cwd, era, client } = command;
  const child = spawn(process.execPath, [program, ...args], { env: { ...process.env, ...env }, ...(cwd && { cwd }) });
  return connectChild(client ?? newClient(era ?? 'legacy'), child, () => {});
}

/** One more client for a server on HTTP. */
export async function connectHttp(url: string, era: Era, token?: string): Promise<Client> {
  const client = newClient(era);
  await client.connect(httpTransport(url, token));
  return client;
}

/** The way to a server on HTTP, with a token if one is given. */
export function httpTransport(url: string, token?: string): StreamableHTTPClientTransport {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
}

interface Parts {
  readonly config: string;
  readonly env: Record<string, string>;
  readonly path?: string | undefined;
  readonly token?: string | undefined;
  dispose(): void;
}

async function overHttp(client: Client, { config, env, path, token, dispose }: Parts): Promise<Ringfence> {
  const child = spawn(process.execPath, [BIN, 'serve', '--config', config], { env });
  child.stdout.resume();
  const log = collectLog(child);
  const first = (await log.waitFor((line) => line.msg === 'listening')).url as string;
  const url = path === undefined ? first : new URL(path, first).href;
  await client.connect(httpTransport(url, token));
  return assemble({ client, log, child, url, dispose });
}

async function overStdio(client: Client, { config, env, dispose }: Parts): Promise<Ringfence> {
  const child = spawn(process.execPath, [BIN, 'stdio', '--config', config], { env });
  return connectChild(client, child, dispose);
}

async function connectChild(
  client: Client,
  child: ChildProcessWithoutNullStreams,
  dispose: () => void,
): Promise<Ringfence> {
  const log = collectLog(child);
  await client.connect(new ChildTransport(child)).catch((error: unknown) => {
    throw new Error(`the server did not start:\n${log.text()}`, { cause: error });
  });
  return assemble({ client, log, child, url: '', dispose });
}

interface Assembled extends Pick<Ringfence, 'client' | 'url'> {
  readonly log: LogCollector;
  readonly child: ChildProcessWithoutNullStreams;
  dispose(): void;
}

function assemble({ client, log, child, url, dispose }: Assembled): Ringfence {
  const closed = once(child, 'close');
  const stop = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await closed;
    return child.exitCode;
  };
  return {
    client,
    pid: child.pid ?? 0,
    url,
    stop,
    call: (tool, args = {}, options = {}) => callTool(client, { tool, args, options }),
    logs: log.lines,
    waitForLog: log.waitFor,
    stderr: log.text,
    [Symbol.asyncDispose]: async () => {
      await client.close().catch(() => {});
      await stop();
      dispose();
    },
  };
}

interface Call {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly options?: CallOptions;
}

/** Calls a tool through any client and takes its result apart. */
export async function callTool(client: Client, { tool, args, options = {} }: Call): Promise<CallResult> {
  const raw = await client.callTool({ name: tool, arguments: { ...args } }, { timeout: 60_000, ...options } as never);
  const blocks = raw.content as { type: string; text?: string }[];
  const text = blocks.map((block) => block.text ?? '').join('\n');
  return { isError: raw.isError === true, text, structured: raw.structuredContent, raw };
}

/** A client of one era, and whatever else it is made with. */
export function newClient(era: Era, options: ClientOptions = {}): Client {
  const mode = era === 'modern' ? { pin: '2026-07-28' } : ('legacy' as const);
  return new Client({ name: 'ringfence-tests', version: '0.0.0' }, { ...options, versionNegotiation: { mode } });
}

interface LogCollector {
  lines(): LogLine[];
  text(): string;
  waitFor(matches: (line: LogLine) => boolean): Promise<LogLine>;
}

const WAIT_MS = 15_000;

function collectLog(child: ChildProcessWithoutNullStreams): LogCollector {
  let text = '';
  const more = new EventEmitter().setMaxListeners(0);
  child.stderr.on('data', (chunk: Buffer) => {
    text += chunk;
    more.emit('more');
  });
  const lines = (): LogLine[] => text.split('\n').flatMap(parseLine);
  const waitFor = async (matches: (line: LogLine) => boolean): Promise<LogLine> => {
    const deadline = AbortSignal.timeout(WAIT_MS);
    for (;;) {
      const found = lines().find(matches);
      if (found !== undefined) return found;
      if (deadline.aborted || child.stderr.readableEnded) throw new Error(`no such log line in:\n${text}`);
      await once(more, 'more', { signal: AbortSignal.any([deadline, AbortSignal.timeout(250)]) }).catch(() => {});
    }
  };
  return { lines, text: () => text, waitFor };
}

function parseLine(line: string): LogLine[] {
  if (!line.startsWith('{')) return [];
  try {
    return [JSON.parse(line) as LogLine];
  } catch {
    // The last line may be half written.
    return [];
  }
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  readonly cwd?: string;
  /** Run as nobody, who owns nothing and may override no permission. */
  readonly unprivileged?: boolean;
}

/** Runs `ringfence` with arguments to its end, or kills it after 15 s. */
export async function runRingfence(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  const { env = {}, stdin = '', cwd, unprivileged = false } = options;
  const drop = unprivileged ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : [];
  const [command = '', ...rest] = [...drop, process.execPath, BIN, ...args];
  const child = spawn(command, rest, { env: { ...process.env, ...env }, ...(cwd && { cwd }) });
  // It may end without reading what it is sent.
  child.stdin.on('error', () => {});
  const timer = setTimeout(() => child.kill('SIGKILL'), 15_000);
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk;
  });
  child.stdin.end(stdin);
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(timer);
  return { code, stdout, stderr };
}
