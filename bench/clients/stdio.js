import { endChild, startChild } from './child.js';

const NEWLINE = 10;

/**
 * A bare JSON-RPC client over a child's pipes. While a clock runs it does nothing but count lines: answers are parsed
 * afterwards, so the client costs little and the same for every server.
 */
export class StdioClient {
  #child;
  #nextId = 1;
  #chunks = [];
  #missing = 0;
  #done = () => {};
  #failed = () => {};

  constructor(command, args) {
    this.#child = startChild(command, args);
    this.#child.stdout.on('data', (chunk) => this.#receive(chunk));
    this.#child.once('error', (error) => this.#failed(error));
    this.#child.once('exit', (code) => this.#failed(new Error(`${command} ${args.join(' ')} ended with ${code}`)));
  }

  get process() {
    return this.#child;
  }

  /** Opens a 2025-era connection as the client of that name. */
  async initialize(name = 'bench') {
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name, version: '1' } };
    await this.burst([{ method: 'initialize', params }]);
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
  }

  /**
   * Sends requests all at once. Returns the time until the last answer was here, and the results in the order of the requests;
   * `answers` are what came, in the order it came, errors included.
   */
  async burst(requests) {
    const first = this.#nextId;
    this.#nextId += requests.length;
    const text = requests.map(
      (request, index) => `${JSON.stringify({ jsonrpc: '2.0', id: first + index, ...request })}\n`,
    );
    const answered = new Promise((resolve, reject) => {
      this.#done = resolve;
      this.#failed = reject;
    });
    this.#chunks = [];
    this.#missing = requests.length;
    const started = performance.now();
    this.#child.stdin.write(text.join(''));
    await answered;
    const ms = performance.now() - started;
    const chunks = this.#chunks;
    return { ms, results: () => resultsOf(chunks, first), answers: () => answersOf(chunks) };
  }

  /** One tool call, its time and its result; an error of any kind is thrown. */
  async call(name, args) {
    const { ms, results } = await this.burst([toolCall(name, args)]);
    return { ms, result: results()[0] };
  }

  close() {
    this.#failed = () => {};
    return endChild(this.#child);
  }

  #receive(chunk) {
    this.#chunks.push(chunk);
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) this.#missing--;
    if (this.#missing <= 0) this.#done();
  }
}

export const toolCall = (name, args) => ({ method: 'tools/call', params: { name, arguments: args } });

/** The result of one JSON-RPC answer; throws for an error of the protocol or of the tool. */
export function resultOf({ error, result }) {
  if (error !== undefined) throw new Error(`protocol error ${error.code}: ${error.message}`);
  if (result.isError) throw new Error(`tool error: ${result.content[0]?.text}`);
  return result;
}

function answersOf(chunks) {
  const lines = Buffer.concat(chunks).toString().trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line));
}

function resultsOf(chunks, first) {
  const results = [];
  for (const answer of answersOf(chunks)) results[answer.id - first] = resultOf(answer);
  return results;
}
