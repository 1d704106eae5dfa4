import { describe, expect, test } from 'vitest';
import { outcome, Sandbox } from '../../fence/sandbox.fixture.ts';
import { DEFAULT_CONTEXT } from '../../runtime/operation-context.ts';
import { DEFAULT_RESULT_FORM } from '../../tools/result-form.ts';
import type { CallContext, RenderedResult } from '../../tools/tool.ts';
import { jsonBytes } from '../../wire/json-chunks.ts';
import { readFile } from './read-file.ts';

async function run(box: Sandbox, args: Record<string, unknown>, maxFullReadSize = 1000) {
  // Only what this tool uses of the server.
  const context = {
    ...DEFAULT_CONTEXT,
    limits: { maxFullReadSize },
    results: DEFAULT_RESULT_FORM,
    root: () => box.root,
    resolveRoot: () => ({ root: box.root }),
  } as unknown as CallContext;
  const all = { root: 'workspace', ...args };
  const result = await readFile.run(all, context);
  expect(readFile.output.safeParse(result).success).toBe(true);
  const rendered = readFile.render?.(result, all) as RenderedResult;
  expect(jsonBytes(rendered.result).toString()).toBe(JSON.stringify(result));
  const text: string = JSON.parse(`"${jsonBytes(rendered.text)}"`);
  expect(`"${jsonBytes(rendered.text)}"`).toBe(JSON.stringify(text));
  expect(rendered.bytes).toBe(Buffer.byteLength(text));
  return { result, text };
}

describe('read_file', () => {
  test('returns the content, and text with line numbers', async () => {
    using box = new Sandbox('openat2');
    box.file('f', 'one\r\ntwo\n\nfour');
    const { result, text } = await run(box, { path: 'f' });
    expect(result).toEqual({ content: 'one\r\ntwo\n\nfour', encoding: 'utf-8', size: 14, truncated: false });
    expect(text).toBe('     1\tone\r\n     2\ttwo\n     3\t\n     4\tfour\n[size: 14 bytes, encoding: utf-8]');
  });

  test('numbers lines from the offset', async () => {
    using box = new Sandbox('openat2');
    box.file('f', 'one\ntwo\nthree\n');
    const { result, text } = await run(box, { path: 'f', offset_lines: 2, limit_lines: 1 });
    expect(result).toEqual({ content: 'two\n', encoding: 'utf-8', size: 14, truncated: true, lines_total: 3 });
    expect(text).toBe('     2\ttwo\n[size: 14 bytes, encoding: utf-8, lines_total: 3, truncated: there is more]');
    expect((await run(box, { path: 'f', limit_lines: 1 })).result).toMatchObject({ content: 'one\n', lines_total: 3 });
    expect((await run(box, { path: 'f', offset_lines: 9 })).text).toBe(
      '\n[size: 14 bytes, encoding: utf-8, lines_total: 3]',
    );
  });

  test('returns byte ranges without numbers, and other content as base64 with binary', async () => {
    using box = new Sandbox('openat2');
    box.file('f', 'caf\u00e9');
    expect((await run(box, { path: 'f', offset_bytes: 1, limit_bytes: 2 })).text).toMatch(/^af\n\[/);
    expect((await run(box, { path: 'f', limit_bytes: 4 })).result).toMatchObject({
      content: 'Y2Fmww==',
      encoding: 'base64',
      truncated: true,
    });
    expect((await run(box, { path: 'f' })).result).not.toHaveProperty('binary');
    box.file('b', Buffer.from([0, 0xff]));
    const { result, text } = await run(box, { path: 'b' });
    expect(result).toEqual({ content: 'AP8=', encoding: 'base64', size: 2, truncated: false, binary: true });
    expect(text).toBe('AP8=\n[size: 2 bytes, encoding: base64, binary]');
  });

  test('refuses byte and line arguments together, also an offset of 0', async () => {
    using box = new Sandbox('openat2');
    box.file('f');
    expect(await outcome(run(box, { path: 'f', offset_bytes: 0, limit_lines: 1 }))).toBe('invalid_argument');
    expect(await outcome(run(box, { path: 'f', limit_bytes: 1, offset_lines: 1 }))).toBe('invalid_argument');
    box.file('large', 'x'.repeat(1001));
    expect(await outcome(run(box, { path: 'large' }))).toBe('too_large');
    const { result } = await run(box, { path: 'large', offset_bytes: 0 });
    expect(result).toMatchObject({ content: 'x'.repeat(1000), truncated: true, size: 1001 });
  });
});
