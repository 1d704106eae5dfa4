import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { afterAll, expect, test } from 'vitest';
import * as z from 'zod';
import type { CallEvent } from '../../audit/record-call.ts';
import { FenceError, Root } from '../../fence/index.ts';
import { writeFile } from '../../files/write/write-file.ts';
import { FairScheduler } from '../../runtime/fair-scheduler.ts';
import { throwIfAborted } from '../../runtime/operation-context.ts';
import { SearchPool } from '../../search/index.ts';
import type { Dialect } from '../../tools/dialect.ts';
import { Roots } from '../../tools/roots.ts';
import { type CallContext, defineTool } from '../../tools/tool.ts';
import { describeServer } from '../description/describe-server.ts';
import { toResult } from '../protocol/sdk/sdk-server.ts';
import type { CallRequest } from './running/call-request.ts';
import { RunningCalls } from './running/running-calls.ts';
import type { Service } from './service.ts';
import { ToolCaller } from './tool-caller.ts';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'ringfence-call-'));
const root = Root.open('r', folder);
afterAll(() => {
  root[Symbol.dispose]();
  fs.rmSync(folder, { recursive: true });
});

const input = z.strictObject({
  root: z.string().default('r'),
  path: z.string().default('p'),
  size: z.int().min(1).optional(),
});
const output = z.object({ answer: z.string() });

function tool(
  name: string,
  run: (args: z.output<typeof input>, context: CallContext) => Promise<{ answer: string }>,
  more = {},
) {
  return defineTool({
    name,
    description: name,
    needs: ['read_file'],
    effect: 'read',
    input,
    output,
    subject: ['root', 'path'],
    run,
    ...more,
  });
}

/** A tool that does nothing, between two ends. */
function between(name: string, subject: readonly string[]) {
  const ends = z.strictObject(Object.fromEntries(subject.map((end) => [end, z.string()])));
  return tool(name, async () => ({ answer: '' }), { input: ends, subject });
}

async function untilAborted({ signal }: CallContext): Promise<never> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
  throwIfAborted(signal);
  throw new Error('not reached');
}

/** How often the tools that fail for a moment were run. */
let staleTimes = 0;

const dialect: Dialect = {
  name: 'test',
  serverName: 'test',
  serverVersion: '0',
  instructions: '',
  destructive: () => false,
  formatError: (error) => `${error.code} ${error.path ?? '-'}`,
  formatProblems: (problems) => problems.map(({ message }) => message).join('; '),
  tools: [
    tool('answer', async ({ path: given }, context) => ({ answer: `${context.root('r').name}:${given}` })),
    tool('refused', async (_, context) => {
      context.root('r');
      context.require(root, 'write_file');
      return { answer: '' };
    }),
    tool('escape', async ({ path: given }) => {
      throw new FenceError('outside_root', { resolved: '/etc' }, { path: given, root: 'r' });
    }),
    tool('broken', async () => {
      throw new Error('the content of a file');
    }),
    tool('stale', async ({ size = 0 }) => {
      staleTimes += 1;
      if (staleTimes <= size)
        throw Object.assign(new Error('stale'), { code: 'Unknown system error -116', errno: -116 });
      return { answer: 'fresh' };
    }),
    tool(
      'stale_change',
      async () => {
        staleTimes += 1;
        throw Object.assign(new Error('stale'), { code: 'EIO', errno: -5 });
      },
      { effect: 'change' },
    ),
    tool('endless', (_, context) => untilAborted(context)),
    tool('patient', (_, context) => untilAborted(context), { ownTimeout: true }),
    tool('huge', async ({ size = 1 }) => ({ answer: '\u0001'.repeat(size) })),
    tool('many', async () => ({ answer: 'x' }), {
      input: z.strictObject({ items: z.array(z.strictObject({ a: z.int() })) }),
      subject: [],
    }),
    between('move', ['source_root', 'source_path', 'dest_root', 'dest_path']),
    between('rename', ['old_path', 'new_path']),
    between('copy', ['source', 'destination']),
    tool(
      'overtaken',
      async ({ path: given }, context) => {
        const target = { root, path: root.parse(given) };
        fs.appendFileSync(path.join(folder, given), ', and more');
        const ifMatch = context.agreedVersion?.(target);
        await writeFile(root, target.path, Buffer.from('replaced'), { durable: false, ifMatch });
        return { answer: '' };
      },
      {
        effect: 'change',
        changes: ({ path: given }: { path: string }) => [{ root, path: root.parse(given), kind: 'replace' }],
      },
    ),
    tool(
      'surprised',
      async (_, context) => {
        context.require(root, 'glob');
        return { answer: '' };
      },
      { effect: 'change', changes: () => [{ root, path: root.parse('p'), kind: 'remove' }] },
    ),
    tool('worded', async () => ({ answer: 'x' }), { text: () => 'for people' }),
  ],
};

interface Line {
  level: string;
  [field: string]: unknown;
}

function caller(requestTimeout = 30) {
  const lines: Line[] = [];
  const logger = pino(
    { formatters: { level: (level) => ({ level }) } },
    { write: (line: string) => void lines.push(JSON.parse(line)) },
  );
  const observed: CallEvent[] = [];
  const service: Service = {
    dialect,
    observers: [(event) => observed.push(event)],
    description: describeServer(dialect),
    roots: new Roots([{ root, allowed: new Set(['read_file'] as const) }]),
    search: new SearchPool(),
    settings: { limits: { maxFullReadSize: 1 }, durable: true, requestTimeout, confirmTimeout: 60 },
    logger,
    running: new RunningCalls(),
    scheduler: new FairScheduler(),
    close: async () => {},
  };
  const toolCaller = new ToolCaller(service);
  const call = async (
    name: string,
    args: Record<string, unknown> = {},
    more: Partial<CallRequest> = {},
    signal = new AbortController().signal,
  ) => {
    const running = service.running.start();
    signal.addEventListener('abort', () => running.cancel());
    if (signal.aborted) running.cancel();
    try {
      const json = await toolCaller.call({
        name,
        args,
        client: { key: 'c', kind: 'session', name: 'session-1' },
        roots: service.roots,
        sample: undefined,
        running,
        progress: () => {},
        ...more,
      });
      return toResult(json);
    } finally {
      // The line comes after the answer.
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return { call, lines, observed, service };
}

test('a result is structured, with the same as text, and one line is logged', async () => {
  const { call, lines } = caller();
  expect(await call('answer', { path: 'x' })).toEqual({
    content: [{ type: 'text', text: '{"answer":"r:x"}' }],
    structuredContent: { answer: 'r:x' },
  });
  expect(lines).toMatchObject([
    {
      level: 'info',
      tool: 'answer',
      dialect: 'test',
      client: 'session-1',
      root: 'r',
      path: 'x',
      outcome: 'success',
      response_bytes: 16,
    },
  ]);
});

test('observers are told of every finished call', async () => {
  const { call, observed } = caller();
  await call('answer', { path: 'x' });
  await call('no_such_tool').catch(() => {});
  expect(observed).toMatchObject([
    { tool: 'answer', dialect: 'test', root: 'r', path: 'x', failure: undefined, responseBytes: 16 },
    { tool: 'no_such_tool', failure: { code: 'unknown_tool' } },
  ]);
});

test('others get their turns while many arguments are checked', async () => {
  const { call } = caller();
  let turns = 0;
  const timer = setImmediate(function count() {
    turns += 1;
    setImmediate(count).unref();
  });
  const items = Array.from({ length: 200_000 }, () => ({ a: 1 }));
  expect(await call('many', { items })).toMatchObject({ structuredContent: { answer: 'x' } });
  clearImmediate(timer);
  // 3 ms each; 200,000 items take tens of them.
  expect(turns).toBeGreaterThan(5);
});

test('a call with two ends logs both, and the source as its root and path', async () => {
  const { call, lines } = caller();
  const ends = { source_root: 'r', source_path: 'a', dest_root: 's', dest_path: 'b' };
  await call('move', ends);
  await call('rename', { old_path: 'a', new_path: 'b' });
  await call('copy', { source: 'a', destination: 'b' });
  expect(lines).toMatchObject([
    { ...ends, root: 'r', path: 'a' },
    { old_path: 'a', new_path: 'b', path: 'a' },
    { source: 'a', destination: 'b', path: 'a' },
  ]);
});

test('a tool may word its result for people', async () => {
  expect(await caller().call('worded')).toMatchObject({
    content: [{ text: 'for people' }],
    structuredContent: { answer: 'x' },
  });
});

test('an unknown tool is a protocol error', async () => {
  const { call, lines } = caller();
  await expect(call('anser')).rejects.toMatchObject({
    code: -32602,
    message: 'unknown tool: anser (did you mean answer?)',
  });
  expect(lines).toMatchObject([{ code: 'unknown_tool', tool: 'anser' }]);
});

test('wrong arguments are an error of the tool, with text only', async () => {
  const { call, lines } = caller();
  expect(await call('answer', { size: '5', pth: 1 })).toEqual({
    isError: true,
    content: [
      {
        type: 'text',
        text: 'size must be an integer of at least 1, got "5"; unknown parameter: pth (did you mean path?)',
      },
    ],
  });
  expect(lines).toMatchObject([{ level: 'info', outcome: 'error', code: 'invalid_argument' }]);
});

test('what a root does not allow is refused and logged as a violation', async () => {
  const { call, lines } = caller();
  expect(await call('refused')).toMatchObject({ isError: true, content: [{ text: 'tool_not_allowed -' }] });
  expect(lines).toMatchObject([{ level: 'warn', code: 'tool_not_allowed', root: 'r', attempted_path: 'p' }]);
});

test('an escape is logged with where it would have led, which the client does not learn', async () => {
  const { call, lines } = caller();
  expect(JSON.stringify(await call('escape', { path: '../x' }))).not.toContain('/etc');
  expect(lines).toMatchObject([{ level: 'warn', attempted_path: '../x', resolved_path: '/etc' }]);
});

test('a read that fails as file systems of several machines do for a moment is repeated, a change is not', async () => {
  const { call } = caller();
  staleTimes = 0;
  expect(await call('stale', { size: 2 })).toMatchObject({ structuredContent: { answer: 'fresh' } });
  expect(staleTimes).toBe(3);
  staleTimes = 0;
  expect(await call('stale_change')).toMatchObject({ isError: true, content: [{ text: 'io_error -' }] });
  expect(staleTimes).toBe(1);
});

test('what does not pass is reported as what it is', async () => {
  const { call } = caller();
  staleTimes = 0;
  expect(await call('stale', { size: 100 })).toMatchObject({ isError: true, content: [{ text: 'io_error -' }] });
});

test('a bug is answered as such; its message goes nowhere', async () => {
  const { call, lines } = caller();
  expect(await call('broken')).toEqual({ isError: true, content: [{ type: 'text', text: 'internal -' }] });
  expect(lines).toMatchObject([{ level: 'error', code: 'internal', error: { name: 'Error' } }]);
  expect(JSON.stringify(lines)).not.toContain('content of a file');
});

test('a call that takes too long is stopped', async () => {
  const { call, service } = caller(0.02);
  expect(await call('endless')).toMatchObject({ isError: true, content: [{ text: 'timed_out -' }] });
  expect(service.running.size).toBe(0);
});

test('a call that its client cancels is stopped, also one with its own time limit', async () => {
  const { call } = caller(0.02);
  const client = new AbortController();
  const answer = call('patient', {}, {}, client.signal);
  setTimeout(() => client.abort(), 60);
  expect(await answer).toMatchObject({ isError: true, content: [{ text: 'cancelled -' }] });
});

test('a call cancelled before it began is stopped too', async () => {
  const answer = await caller().call('endless', {}, {}, AbortSignal.abort());
  expect(answer).toMatchObject({ isError: true, content: [{ text: 'cancelled -' }] });
});

test('a result is measured as it would travel, escaping included', async () => {
  const { call } = caller();
  expect(await call('huge', { size: 100_000 })).not.toHaveProperty('isError');
  expect(await call('huge', { size: 1_000_000 })).toMatchObject({
    isError: true,
    content: [{ text: 'result_too_large -' }],
  });
});

test('tools are listed with lean schemas and honest annotations', () => {
  const [first] = describeServer(dialect).tools;
  expect(first).toEqual({
    name: 'answer',
    description: 'answer',
    inputSchema: {
      type: 'object',
      properties: {
        root: { type: 'string', default: 'r' },
        path: { type: 'string', default: 'p' },
        size: { type: 'integer', minimum: 1 },
      },
      additionalProperties: false,
    },
    outputSchema: { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] },
    annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: false },
  });
});

test('what a person agreed to is the condition of the change, and the answer is logged', async () => {
  const { call, lines } = caller();
  fs.writeFileSync(path.join(folder, 'asked.txt'), 'text');
  const roots = new Roots([
    { root, allowed: new Set(['read_file'] as const), confirm: new Set(['read_file'] as const) },
  ]);
  const result = await call('overtaken', { path: 'asked.txt' }, { roots, confirm: async () => 'agreed' });
  expect(result).toMatchObject({ isError: true, content: [{ text: 'changed_meanwhile asked.txt' }] });
  expect(fs.readFileSync(path.join(folder, 'asked.txt'), 'utf8')).toBe('text, and more');
  expect(lines).toMatchObject([{ tool: 'overtaken', code: 'changed_meanwhile', confirmation: 'agreed' }]);
});

test('a tool that needs more than it said cannot do what a person has to agree to', async () => {
  const { call } = caller();
  const allowed = new Set(['read_file', 'glob'] as const);
  const confirm = async () => 'agreed' as const;
  const roots = (confirmed: Set<'glob'>) => new Roots([{ root, allowed, confirm: confirmed }]);
  const refused = await call('surprised', {}, { roots: roots(new Set(['glob'])), confirm });
  expect(refused).toMatchObject({ isError: true, content: [{ text: 'changed_meanwhile -' }] });
  expect(await call('surprised', {}, { roots: roots(new Set()), confirm })).not.toHaveProperty('isError');
});
