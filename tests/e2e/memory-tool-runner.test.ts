import fs from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Anthropic from '@anthropic-ai/sdk';
import { betaMemoryTool } from '@anthropic-ai/sdk/helpers/beta/memory';
import { BetaLocalFilesystemMemoryTool } from '@anthropic-ai/sdk/tools/memory/node';
import { describe, expect, it } from 'vitest';
import { createMemoryTool } from '../../src/dialects/memory-tool/create-memory-tool.ts';
import { treeOf } from '../../src/fence/sandbox.fixture.ts';
import { tempDir } from '../support/temp-dir.ts';

type Command = Record<string, unknown>;

interface ApiRequest {
  readonly tools: unknown;
  readonly messages: { role: string; content: { type: string; content: string; is_error?: boolean }[] }[];
}

/** Plays the model: answers each request with the next command, and at last with a plain text. Keeps what it was sent. */
async function playModel(commands: readonly Command[]) {
  const requests: ApiRequest[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk;
    });
    request.on('end', () => {
      const command = commands[requests.length];
      requests.push(JSON.parse(body) as ApiRequest);
      const content =
        command === undefined
          ? { type: 'text', text: 'done' }
          : { type: 'tool_use', id: `toolu_${requests.length}`, name: 'memory', input: command };
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({
          id: `msg_${requests.length}`,
          type: 'message',
          role: 'assistant',
          model: 'test',
          content: [content],
          stop_reason: command === undefined ? 'end_turn' : 'tool_use',
          stop_sequence: null,
          usage: { input_tokens: 1, output_tokens: 1 },
        }),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const client = new Anthropic({ apiKey: 'none', baseURL: `http://127.0.0.1:${port}`, maxRetries: 0 });
  return {
    client,
    requests,
    /** What the runner answered to each command. */
    results: () => requests.slice(1).map(({ messages }) => messages.at(-1)?.content[0]),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function runAll(commands: readonly Command[], root: string) {
  const model = await playModel(commands);
  const memory = createMemoryTool({ root });
  try {
    const last = await model.client.beta.messages.toolRunner({
      model: 'test',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'hello' }],
      tools: [betaMemoryTool(memory.handlers)],
    });
    return { last, requests: model.requests, results: model.results() };
  } finally {
    await memory.close();
    model.close();
  }
}

const SESSION: readonly Command[] = [
  { command: 'view', path: '/memories/missing.txt' },
  { command: 'create', path: '/memories/a.txt', file_text: 'one\ntwo\nthree' },
  { command: 'view', path: '/memories/a.txt' },
  { command: 'view', path: '/memories/a.txt', view_range: [2, 3] },
  { command: 'str_replace', path: '/memories/a.txt', old_str: 'two', new_str: 'TWO' },
  { command: 'insert', path: '/memories/a.txt', insert_line: 1, insert_text: 'between\n' },
  { command: 'view', path: '/memories/a.txt', view_range: [1, -1] },
  { command: 'rename', old_path: '/memories/a.txt', new_path: '/memories/done/b.txt' },
  { command: 'create', path: '/memories/final.txt', file_text: 'x\n' },
  { command: 'view', path: '/memories/final.txt' },
  { command: 'delete', path: '/memories/done' },
];

describe("the SDK's tool runner", () => {
  it('runs a session of canned model turns on a fenced folder', async () => {
    const root = tempDir('ringfence-memories-');
    const { last, requests, results } = await runAll(SESSION, root);
    expect(last.content).toMatchObject([{ type: 'text', text: 'done' }]);
    expect(requests[0]?.tools).toEqual([{ type: 'memory_20250818', name: 'memory' }]);
    expect(results.map((result) => result?.content)).toEqual([
      'The path /memories/missing.txt does not exist. Please provide a valid path.',
      'File created successfully at: /memories/a.txt',
      "Here's the content of /memories/a.txt with line numbers:\n     1\tone\n     2\ttwo\n     3\tthree",
      "Here's the content of /memories/a.txt with line numbers:\n     2\ttwo\n     3\tthree",
      'The memory file has been edited. Here is the snippet showing the change (with line numbers):\n     1\tone\n     2\tTWO\n     3\tthree',
      'The file /memories/a.txt has been edited.',
      "Here's the content of /memories/a.txt with line numbers:\n     1\tone\n     2\tbetween\n     3\tTWO\n     4\tthree",
      'Successfully renamed /memories/a.txt to /memories/done/b.txt',
      'File created successfully at: /memories/final.txt',
      "Here's the content of /memories/final.txt with line numbers:\n     1\tx\n     2\t",
      'Successfully deleted /memories/done',
    ]);
    expect(results.every((result) => result?.type === 'tool_result' && result.is_error !== true)).toBe(true);
    expect(treeOf(root)).toEqual(['final.txt']);
    fs.rmSync(root, { recursive: true });
  });

  it('answers like the folder that the SDK brings, where the documentation does not say otherwise', async () => {
    const base = tempDir('ringfence-theirs-');
    const root = tempDir('ringfence-ours-');
    const theirs = betaMemoryTool(await BetaLocalFilesystemMemoryTool.init(base));
    await using memory = createMemoryTool({ root });
    for (const command of SESSION.slice(1)) {
      expect(await memory.execute(command)).toBe(await theirs.run(command as never));
      expect(treeOf(root)).toEqual(treeOf(`${base}/memories`));
    }
    fs.rmSync(base, { recursive: true });
    fs.rmSync(root, { recursive: true });
  });

  it('hands refusals to the model as text and goes on', async () => {
    const root = tempDir('ringfence-memories-');
    fs.symlinkSync('/etc/passwd', `${root}/out`);
    const { results } = await runAll(
      [
        { command: 'view', path: '/memories/../etc/passwd' },
        { command: 'view', path: '/memories/out' },
        { command: 'view', path: '/memoriesX' },
        { command: 'delete', path: '/memories' },
        { command: 'delete', path: '/memories/missing' },
        { command: 'create', path: '/memories/ok', file_text: '' },
      ],
      root,
    );
    expect(results.map((result) => result?.content)).toEqual([
      'Error: Path /memories/../etc/passwd would escape /memories directory',
      'Error: Path /memories/out would escape /memories directory',
      'Error: Path must start with /memories, got: /memoriesX',
      'Error: Cannot delete the /memories directory itself',
      'Error: The path /memories/missing does not exist',
      'File created successfully at: /memories/ok',
    ]);
    fs.rmSync(root, { recursive: true });
  });
});
