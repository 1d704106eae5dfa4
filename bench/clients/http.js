import http from 'node:http';
import { resultOf } from './stdio.js';

const MODERN = '2026-07-28';
const LEGACY = '2025-06-18';
const clientInfo = { name: 'bench', version: '1' };

/**
 * A bare client over HTTP with kept connections. `era` is `'2025'` for a session or `'2026'` for requests without one.
 * As on stdio, answers are kept as they came and parsed after the clock has stopped.
 */
export class HttpClient {
  #url;
  #agent;
  #era;
  #session;
  #nextId = 1;

  constructor(url, { era, agent }) {
    this.#url = url;
    this.#era = era;
    this.#agent = agent;
  }

  async open() {
    if (this.#era === '2026') return;
    const params = { protocolVersion: LEGACY, capabilities: {}, clientInfo };
    const { headers, result } = await this.#post({ id: this.#nextId++, method: 'initialize', params }, {});
    result();
    this.#session = { 'mcp-session-id': headers['mcp-session-id'], 'mcp-protocol-version': LEGACY };
    await this.#post({ method: 'notifications/initialized' }, this.#session);
  }

  /** Calls a tool. `result` parses the answer, and throws if it is an error of any kind. */
  call(name, args) {
    const params = { name, arguments: args };
    const id = this.#nextId++;
    if (this.#era === '2025') return this.#post({ id, method: 'tools/call', params }, this.#session);
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': MODERN,
      'io.modelcontextprotocol/clientInfo': clientInfo,
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const headers = { 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/call', 'mcp-name': name };
    return this.#post({ id, method: 'tools/call', params: { ...params, _meta } }, headers);
  }

  #post(message, headers) {
    const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }));
    const options = {
      method: 'POST',
      agent: this.#agent,
      headers: {
        'content-type': 'application/json',
        'content-length': body.length,
        accept: 'application/json, text/event-stream',
        ...headers,
      },
    };
    return new Promise((resolve, reject) => {
      const request = http.request(this.#url, options, (response) => {
        const chunks = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.once('error', reject);
        response.once('end', () => {
          const { statusCode, headers } = response;
          resolve({
            headers,
            result: () => parse(statusCode, headers['content-type'], Buffer.concat(chunks).toString()),
          });
        });
      });
      request.on('error', reject);
      request.end(body);
    });
  }
}

function parse(status, type, text) {
  if (status !== 200) throw new Error(`HTTP ${status}: ${text.slice(0, 200)}`);
  if (!type?.startsWith('text/event-stream')) return resultOf(JSON.parse(text));
  const answers = text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)));
  return resultOf(answers.at(-1));
}
