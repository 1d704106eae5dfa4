import { createHash } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { recordFigure } from './figures.ts';
import { startServer } from './start-server.ts';
import { tempDir } from './temp-dir.ts';

const TOKENS = Array.from({ length: 20 }, (_, number) => `load-token-number-${number}`);
const MODERN = '2026-07-28';
const LEGACY = '2025-11-25';
const FOLDERS = 20;

interface LoadSize {
  readonly clients: number;
  readonly seconds: number;
}

/**
 * Defines the test that lets many clients of both eras, each with a token, a connection and files of its own, call tools without a
 * pause. Every answer is compared with what it must be.
 */
export function testLoad({ clients, seconds }: LoadSize): void {
  test(`${clients} clients for ${seconds} s are all served, and each gets its own answers`, {
    timeout: (seconds + 120) * 1000,
  }, async () => {
    const dir = tempDir('ringfence-load-');
    for (let folder = 0; folder < FOLDERS; folder += 1) {
      fs.mkdirSync(path.join(dir, `d${folder}`));
      for (let file = 0; file < 50; file += 1) {
        fs.writeFileSync(path.join(dir, `d${folder}`, `f${file}.txt`), `needle ${folder} ${file}\n`);
      }
    }
    const tokens = TOKENS.map((token, number) => ({ name: `t${number}`, sha256: sha256(token), roots: ['r'] }));
    await using server = await startServer({
      roots: [{ name: 'r', path: dir }],
      config: { auth: { tokens }, durable_writes: false },
      token: TOKENS[0] as string,
    });
    const idle = residentBytes(server.pid);
    const all = await Promise.all(
      Array.from({ length: clients }, (_, number) => LoadClient.open(new URL(server.url), number)),
    );
    const end = performance.now() + seconds * 1000;
    const health = measureHealth(new URL(server.url), end);
    const memory = measureMemory(server.pid, end);
    const wrong: string[] = [];
    const calls = await Promise.all(
      all.map(async (client) => {
        let count = 0;
        while (performance.now() < end || count === 0) {
          const problem = await client.step(count);
          if (problem !== undefined && wrong.length < 5) wrong.push(problem);
          count += 1;
        }
        client.close();
        return count;
      }),
    );
    const [waits, peak] = await Promise.all([health, memory]);
    const total = calls.reduce((sum, count) => sum + count, 0);
    const name = `load of ${clients} clients`;
    recordFigure(`${name}: calls`, total, 'calls');
    recordFigure(`${name}: calls of the client with the fewest`, Math.min(...calls), 'calls');
    recordFigure(`${name}: /health, 99th percentile`, waits[Math.floor(waits.length * 0.99)] ?? 0, 'ms');
    recordFigure(`${name}: resident memory above idle, peak`, (peak - idle) / 1024 ** 2, 'MiB');
    expect(wrong).toEqual([]);
    expect((peak - idle) / 1024 ** 2).toBeLessThan(512);
    expect(waits.length).toBeGreaterThan(0);
    expect(server.stderr()).not.toContain('internal error');
    fs.rmSync(dir, { recursive: true });
  });
}

/** One client with one connection. Even ones have a session, odd ones speak 2026-07-28. */
class LoadClient {
  readonly #url: URL;
  readonly #number: number;
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  #session = '';

  private constructor(url: URL, number: number) {
    this.#url = url;
    this.#number = number;
  }

  static async open(url: URL, number: number): Promise<LoadClient> {
    const client = new LoadClient(url, number);
    if (number % 2 === 1) return client;
    const clientInfo = { name: 'load', version: '0' };
    const { headers } = await client.#post({
      id: 0,
      method: 'initialize',
      params: { protocolVersion: LEGACY, capabilities: {}, clientInfo },
    });
    client.#session = String(headers['mcp-session-id']);
    return client;
  }

  /** Calls a tool and returns what is wrong with its answer. */
  async step(turn: number): Promise<string | undefined> {
    const [tool, args, expected] = this.#stepOf(turn);
    const { status, body } = await this.#call(tool, { root: 'r', ...args });
    return status === 200 && body.includes(expected) ? undefined : `${tool}: ${status} ${body.slice(0, 300)}`;
  }

  close(): void {
    this.#agent.destroy();
  }

  #stepOf(turn: number): [tool: string, args: Record<string, unknown>, expected: string] {
    const folder = (this.#number + turn) % FOLDERS;
    const own = `d${this.#number % FOLDERS}/own-${this.#number}`;
    switch (turn % 6) {
      case 0:
        return ['write_file', { path: own, content: `of ${this.#number}, turn ${turn}` }, `"${own}"`];
      case 1:
        return ['read_file', { path: own }, `of ${this.#number}, turn ${turn - 1}`];
      case 2:
        return ['list_folder', { path: `d${folder}` }, '"f49.txt"'];
      case 3:
        return ['grep', { path: `d${folder}`, pattern: `needle ${folder} 7$` }, `d${folder}/f7.txt`];
      case 4:
        return ['stat_file', { path: `d${folder}/f${turn % 50}.txt` }, `f${turn % 50}.txt`];
      default:
        return ['read_file', { path: 'missing' }, 'file not found: missing'];
    }
  }

  #call(name: string, args: Record<string, unknown>) {
    const params = { name, arguments: args };
    if (this.#session !== '') {
      const headers = { 'mcp-session-id': this.#session, 'mcp-protocol-version': LEGACY };
      return this.#post({ id: 1, method: 'tools/call', params }, headers);
    }
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': MODERN,
      'io.modelcontextprotocol/clientInfo': { name: 'load', version: '0' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const headers = { 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/call', 'mcp-name': name };
    return this.#post({ id: 1, method: 'tools/call', params: { ...params, _meta } }, headers);
  }

  #post(message: Record<string, unknown>, more: Record<string, string> = {}) {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${TOKENS[this.#number % TOKENS.length]}`,
      ...more,
    };
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    return send(this.#url, { method: 'POST', headers, agent: this.#agent }, body);
  }
}

async function send(url: URL, options: http.RequestOptions, body = '') {
  const request = http.request(url, options).end(body);
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  let text = '';
  response.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  await once(response, 'end');
  return { status: response.statusCode, headers: response.headers, body: text };
}

/**
 * Asks for `/health` again and again and resolves with the milliseconds that each answer took, sorted. Asks from another thread: this
 * one is as busy with its clients as the server.
 */
async function measureHealth(url: URL, end: number): Promise<number[]> {
  const poller = new Worker(new URL('../bombs/health-poll.js', import.meta.url), {
    workerData: new URL('/health', url).href,
  });
  await delay(end - performance.now());
  poller.postMessage('report');
  const [waits] = (await once(poller, 'message')) as [number[]];
  await poller.terminate();
  return waits.sort((one, other) => one - other);
}

async function measureMemory(pid: number, end: number): Promise<number> {
  let peak = 0;
  while (performance.now() < end) {
    peak = Math.max(peak, residentBytes(pid));
    await delay(250);
  }
  return peak;
}

/** Returns the resident memory of a process, in bytes. */
function residentBytes(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1024;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
