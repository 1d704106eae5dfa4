import { createHash } from 'node:crypto';
import { pino } from 'pino';
import * as z from 'zod';
import type { SampleParams } from '../../agent/sample.ts';
import { FairScheduler } from '../../runtime/fair-scheduler.ts';
import { SearchPool } from '../../search/index.ts';
import type { Dialect } from '../../tools/dialect.ts';
import { Roots } from '../../tools/roots.ts';
import { defineTool } from '../../tools/tool.ts';
import { RunningCalls } from '../call/running/running-calls.ts';
import type { Service } from '../call/service.ts';
import { Principals } from '../clients/principals.ts';
import { describeServer } from '../description/describe-server.ts';

const input = z.strictObject({ text: z.string().default('?'), timeout_ms: z.int().default(5_000) });
const output = z.object({ answer: z.string() });

/** The answers that the tool below has got, by client, as a cache would keep them. */
export const known = new Map<string, Map<string, string>>();

export function question(text: string): SampleParams {
  return {
    messages: [{ role: 'user', content: { type: 'text', text } }],
    systemPrompt: 'be brief',
    maxTokens: 100,
    tools: [{ name: 'hand_over', description: 'hands over', inputSchema: { type: 'object' } }],
  };
}

const ask = defineTool({
  name: 'ask',
  description: 'asks each word',
  needs: [],
  effect: 'read',
  input,
  output,
  subject: [],
  run: async ({ text, timeout_ms: timeoutMs }, { client, sample, signal }) => {
    if (sample === undefined) return { answer: 'cannot ask' };
    const learned = known.get(client.key) ?? new Map<string, string>();
    known.set(client.key, learned);
    for (const word of text.split(' ')) {
      if (learned.has(word)) continue;
      const answer = await sample(question(word), { signal, timeoutMs });
      learned.set(word, JSON.stringify(answer));
    }
    return {
      answer: text
        .split(' ')
        .map((word) => learned.get(word))
        .join(),
    };
  },
});

const dialect: Dialect = {
  name: 'asking',
  serverName: 'asking',
  serverVersion: '0',
  instructions: '',
  destructive: () => false,
  formatError: (error) => `${error.code} ${JSON.stringify(error.details)}`,
  formatProblems: () => 'bad arguments',
  tools: [ask],
};

/** The lines of the log. */
export const lines: Record<string, unknown>[] = [];
export const roots = new Roots([]);
/** A service with one tool, which asks its client. */
export const service: Service = {
  dialect,
  description: describeServer(dialect),
  roots,
  search: new SearchPool(),
  settings: {
    limits: { maxFullReadSize: 1 },
    durable: false,
    // Shorter than the slowest answer, because the time that the client takes does not count.
    requestTimeout: 1,
    confirmTimeout: 1,
  },
  logger: pino(
    { level: 'debug', formatters: { level: (level) => ({ level }) } },
    { write: (line: string) => void lines.push(JSON.parse(line)) },
  ),
  running: new RunningCalls(),
  scheduler: new FairScheduler(),
  close: async () => {},
};
const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();
const tokens = ['one', 'two'].map((name) => ({ name, sha256: sha256(name), roots: [] }));
/** The service above with two principals, whose tokens are their names. */
export const locked: Service = { ...service, principals: new Principals({ tokens }, roots) };
