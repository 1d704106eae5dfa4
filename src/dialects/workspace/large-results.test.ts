import fs from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { memory, outcome, Sandbox } from '../../fence/sandbox.fixture.ts';
import { DEFAULT_CONTEXT } from '../../runtime/operation-context.ts';
import { SearchPool } from '../../search/index.ts';
import { renderSuccess } from '../../server/call/render-result.ts';
import { DEFAULT_RESULT_FORM } from '../../tools/result-form.ts';
import type { CallContext, Tool } from '../../tools/tool.ts';
import { jsonBytes } from '../../wire/json-chunks.ts';
import { MAX_RESULT_BYTES } from '../../wire/result-size.ts';
import { formatError } from './errors.ts';
import { glob } from './glob.ts';
import { grep } from './grep.ts';
import { listFolder } from './list-folder.ts';
import { readFile } from './read-file.ts';

const pool = new SearchPool();
let box: Sandbox;

beforeAll(() => {
  box = new Sandbox('openat2', memory());
});

afterAll(async () => {
  await pool.close();
  box[Symbol.dispose]();
});

async function run(tool: Tool, given: object) {
  // Only what these tools use of the server.
  const limits = { maxFullReadSize: 10_000_000 };
  const context = {
    results: DEFAULT_RESULT_FORM,
    ...DEFAULT_CONTEXT,
    limits,
    search: pool,
    root: () => box.root,
    resolveRoot: () => ({ root: box.root }),
  } as unknown as CallContext;
  const args = tool.input.parse({ root: 'workspace', ...given });
  const result = await tool.run(args, context);
  const sent = `${jsonBytes(renderSuccess(tool, result, { args }).json)}}`;
  expect(Buffer.byteLength(sent)).toBeLessThan(MAX_RESULT_BYTES);
  return JSON.parse(sent).structuredContent as Record<string, unknown>;
}

describe('a result that is too large for one message is truncated', () => {
  test('list_folder', async () => {
    box.folder('many');
    for (let i = 0; i < 30_000; i += 1) fs.writeFileSync(box.host('many', String(i).padStart(70, '0')), '');
    const { entries, count, truncated } = await run(listFolder, { path: 'many' });
    expect([count, truncated]).toEqual([30_000, true]);
    expect(entries).not.toHaveLength(30_000);
    expect((entries as { name: string }[])[0]?.name).toBe('0'.repeat(70));
    expect((entries as unknown[]).length).toBeGreaterThan(15_000);
  });

  test('glob', async () => {
    const folder = `long/${Array.from({ length: 4 }, () => 'd'.repeat(200)).join('/')}`;
    box.folder(folder);
    for (let i = 0; i < 10_000; i += 1) fs.writeFileSync(box.host(folder, String(i)), '');
    const found = await run(glob, { path: 'long', pattern: '**', type_filter: 'file', max_results: 10_000 });
    expect(found).toMatchObject({ truncated: true, timed_out: false });
    expect(found.matches).toHaveLength(found.total_matches as number);
    expect(found.total_matches).toBeGreaterThan(2_000);
    expect(found.total_matches).toBeLessThan(10_000);
  });

  test('grep, whatever the script', async () => {
    box.file('lines', `${'\u6f22'.repeat(1_000)}\n`.repeat(3_000));
    const found = await run(grep, { path: 'lines', pattern: '.', max_results: 10_000 });
    expect(found).toMatchObject({ truncated: true, timed_out: false });
    expect(found.matches).toHaveLength(found.total_matches as number);
    expect(found.total_matches).toBeGreaterThan(1_000);
    expect(found.total_matches).toBeLessThan(3_000);
  });

  test.each([
    ['text', 'some text of a log, like any other\n', { offset_bytes: 0 }],
    ['text by lines', 'some text of a log, like any other\n', { offset_lines: 1 }],
    ['short lines', '\n', { offset_lines: 1 }],
    ['control characters', '\u0001', { offset_bytes: 0 }],
    ['bytes that are not text', Buffer.from([0xff, 0x00, 0xfe]), { offset_bytes: 0 }],
  ])('a part of a file: %s', async (_, unit, range) => {
    const bytes = Buffer.alloc(12_000_000, unit);
    box.file('large', bytes);
    const { content, encoding, size, truncated } = await run(readFile, { path: 'large', ...range });
    expect([size, truncated]).toEqual([12_000_000, true]);
    const got = Buffer.from(content as string, encoding as BufferEncoding);
    expect(got.length).toBeGreaterThan(500_000);
    expect(bytes.subarray(0, got.length).equals(got)).toBe(true);
  });
});

describe('a whole file', () => {
  test('that is too large for one message is refused with an alternative', async () => {
    box.file('large', Buffer.alloc(9_000_000, 'line of text\n'));
    expect(await outcome(run(readFile, { path: 'large' }))).toBe('too_large');
    const error = await run(readFile, { path: 'large' }).catch((thrown) => thrown);
    expect(formatError(error, { tool: readFile, args: {} })).toMatch(
      /^file too large for full read \(size: 8\.6MB, limit: [23]\.\dMB\); use offset\/limit parameters: large \(root: workspace\)$/,
    );
  });

  test('that fits into one message is returned whole', async () => {
    box.file('fits', Buffer.alloc(3_000_000, 'quite a long line of text, so that its number hardly counts\n'));
    expect(await run(readFile, { path: 'fits' })).toMatchObject({ size: 3_000_000, truncated: false });
  });
});
