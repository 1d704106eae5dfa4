import { describe, expect, test } from 'vitest';
import { outcome, Sandbox } from '../../fence/sandbox.fixture.ts';
import { DEFAULT_CONTEXT } from '../../runtime/operation-context.ts';
import { DEFAULT_RESULT_FORM, type ResultForm } from '../../tools/result-form.ts';
import type { CallContext, RenderedResult } from '../../tools/tool.ts';
import { jsonBytes } from '../../wire/json-chunks.ts';
import { readFile } from './read-file.ts';

function contextOf(box: Sandbox, maxFullReadSize: number, results: ResultForm = DEFAULT_RESULT_FORM): CallContext {
  // Only what this tool uses of the server.
  return {
    ...DEFAULT_CONTEXT,
    limits: { maxFullReadSize },
    results,
    root: () => box.root,
    resolveRoot: () => ({ root: box.root }),
  } as unknown as CallContext;
}

/** Returns the text that a client gets that is served text alone. */
async function textOf(box: Sandbox, args: Record<string, unknown>, maxChars = 100_000, maxFullReadSize = 1_000_000) {
  const all = { root: 'workspace', path: 'f', ...args };
  const result = await readFile.run(
    all,
    contextOf(box, maxFullReadSize, { ...DEFAULT_RESULT_FORM, mode: 'text', maxChars }),
  );
  const text = readFile.readerText?.(result, all) ?? '';
  // Every text of a file ends with its version; that of an image has it in no form but the structured one.
  if (result.mime_type === undefined)
    expect(text).toMatch(new RegExp(`[[ ]version ${result.version}(; next: .*)?\\]$`));
  return text.replace(/\n?\[version \w+\]$/, '').replace(/, version \w+(?=\]$|; next)/, '');
}

/** Follows `next` to the end and returns all texts without their last lines. */
async function pagesOf(box: Sandbox, args: Record<string, unknown>, maxChars: number): Promise<string[]> {
  const text = await textOf(box, args, maxChars);
  expect(text.length).toBeLessThan(maxChars + 100);
  const last = /\n\[.*; next: (\{.*\})\]$/.exec(text);
  if (last === null) return [text];
  return [text.slice(0, last.index), ...(await pagesOf(box, { ...args, ...JSON.parse(last[1] ?? '') }, maxChars))];
}

async function run(
  box: Sandbox,
  args: Record<string, unknown>,
  maxFullReadSize = 1000,
  results: ResultForm = DEFAULT_RESULT_FORM,
) {
  const context = contextOf(box, maxFullReadSize, results);
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

const version = expect.stringMatching(/^[0-9a-v]{12}$/);

describe('read_file', () => {
  test('returns the content, and text with line numbers', async () => {
    using box = new Sandbox('openat2');
    box.file('f', 'one\r\ntwo\n\nfour');
    const { result, text } = await run(box, { path: 'f' });
    expect(result).toEqual({ content: 'one\r\ntwo\n\nfour', encoding: 'utf-8', size: 14, truncated: false, version });
    expect(text).toBe('     1\tone\r\n     2\ttwo\n     3\t\n     4\tfour\n[size: 14 bytes, encoding: utf-8]');
  });

  test('numbers lines from the offset', async () => {
    using box = new Sandbox('openat2');
    box.file('f', 'one\ntwo\nthree\n');
    const { result, text } = await run(box, { path: 'f', offset_lines: 2, limit_lines: 1 });
    expect(result).toEqual({ content: 'two\n', encoding: 'utf-8', size: 14, truncated: true, lines_total: 3, version });
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
    expect(result).toEqual({ content: 'AP8=', encoding: 'base64', size: 2, truncated: false, binary: true, version });
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

const TWENTY = Array.from({ length: 20 }, (_, index) => `line ${index + 1}\n`).join('');

describe('read_file from the end', () => {
  test('numbers the lines if the total is known, else from the end', async () => {
    using box = new Sandbox('openat2');
    box.file('f', TWENTY);
    const { result, text } = await run(box, { path: 'f', offset_lines: -2 });
    expect(result).toMatchObject({ content: 'line 19\nline 20\n', lines_total: 20, first_line: 19, truncated: false });
    expect(text).toMatch(/^ {4}19\tline 19\n {4}20\tline 20\n\[/);
    box.file('large', `${'x\n'.repeat(200_000)}y\n`);
    const large = await run(box, { path: 'large', offset_lines: -2 });
    expect(large.result).toEqual({
      content: 'x\ny\n',
      encoding: 'utf-8',
      size: 400_002,
      truncated: false,
      first_line: -2,
      version: expect.any(String),
    });
    expect(large.text).toBe('    -2\tx\n    -1\ty\n[size: 390.6KB, encoding: utf-8]');
    expect(await outcome(run(box, { path: 'f', offset_lines: 0 }))).toBe('invalid_argument');
  });
});

describe('read_file with an encoding', () => {
  test.each([
    ['latin1', 'caf\u00e9\nna\u00efve\n', Buffer.from('caf\u00e9\nna\u00efve\n', 'latin1')],
    ['utf-16le', 'caf\u00e9\n\u0a0a\n', Buffer.from('\ufeffcaf\u00e9\n\u0a0a\n', 'utf16le')],
    ['UTF-16BE', 'caf\u00e9\n\u0a0a\n', Buffer.from('caf\u00e9\n\u0a0a\n', 'utf16le').swap16()],
    ['windows-1252', '\u20ac\nx\n', Buffer.from([0x80, 0x0a, 0x78, 0x0a])],
    ['shift_jis', '\u30c6\u30b9\n\u30c8\n', Buffer.from([0x83, 0x65, 0x83, 0x58, 0x0a, 0x83, 0x67, 0x0a])],
    ['utf-8', 'caf\u00e9\nb\n', Buffer.from('caf\u00e9\nb\n')],
  ])('decodes %s, whole and by lines', async (encoding, content, bytes) => {
    using box = new Sandbox('openat2');
    box.file('f', bytes);
    const whole = await run(box, { path: 'f', encoding });
    expect(whole.result).toMatchObject({ content, encoding, size: bytes.length, truncated: false });
    expect(whole.text).toContain(`     1\t${content.split('\n')[0]}\n`);
    const second = await run(box, { path: 'f', encoding, offset_lines: 2, limit_lines: 1 });
    expect(second.result).toMatchObject({ content: content.slice(content.indexOf('\n') + 1), lines_total: 2 });
    const last = await run(box, { path: 'f', encoding, offset_lines: -1 });
    expect(last.result).toMatchObject({ content: second.result.content, first_line: 2 });
  });

  test('refuses bytes that are not valid in it, and names that it does not know', async () => {
    using box = new Sandbox('openat2');
    box.file('f', Buffer.from([0x61, 0x81]));
    for (const encoding of ['windows-1252', 'utf-8', 'shift_jis']) {
      expect(await outcome(run(box, { path: 'f', encoding }))).toBe('undecodable');
    }
    box.file('odd', Buffer.from([0x61, 0x00, 0x62]));
    box.file('half', Buffer.from([0x3d, 0xd8]));
    for (const path of ['odd', 'half']) {
      expect(await outcome(run(box, { path, encoding: 'utf-16le' }))).toBe('undecodable');
    }
    for (const encoding of ['klingon', 'base64', 'hex', 'utf-16', '']) {
      expect(await outcome(run(box, { path: 'f', encoding }))).toBe('invalid_argument');
    }
  });

  test('cuts lines that are too long between characters', async () => {
    using box = new Sandbox('openat2');
    box.file('f', Buffer.from('\u{1f600}\u{1f600}\n', 'utf16le'));
    const { result } = await run(box, { path: 'f', encoding: 'utf-16le', offset_lines: 1 }, 6);
    expect(result).toMatchObject({ content: '\u{1f600}', truncated: true });
    box.file('f', Buffer.from([0x83, 0x65, 0x83, 0x58, 0x0a]));
    const japanese = await run(box, { path: 'f', encoding: 'shift_jis', offset_lines: 1 }, 3);
    expect(japanese.result).toMatchObject({ content: '\u30c6', truncated: true });
  });
});

describe('read_file of images and audio', () => {
  const PNG = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1');

  test('returns a content block besides base64, and a text without it', async () => {
    using box = new Sandbox('openat2');
    box.file('picture.txt', PNG);
    const { result, text } = await run(box, { path: 'picture.txt' });
    const data = PNG.toString('base64');
    expect(result).toMatchObject({ content: data, encoding: 'base64', binary: true, mime_type: 'image/png' });
    expect(text).toBe('[size: 16 bytes, encoding: base64, image/png, binary]');
    expect(readFile.media?.(result, { path: 'picture.txt' })).toEqual({ type: 'image', mimeType: 'image/png', data });
    expect(await textOf(box, { path: 'picture.txt' }, 10)).toBe(text);
  });

  test('returns parts, and what the caller wants decoded, as any other file', async () => {
    using box = new Sandbox('openat2');
    box.file('f', PNG);
    for (const args of [{ offset_bytes: 0 }, { offset_lines: 1 }, { encoding: 'latin1' }]) {
      const { result } = await run(box, { path: 'f', ...args });
      expect(result).not.toHaveProperty('mime_type');
      expect(readFile.media?.(result, { path: 'f', ...args })).toBeUndefined();
    }
    box.file('a', 'fLaC\0\0');
    const { result } = await run(box, { path: 'a' });
    expect(readFile.media?.(result, { path: 'a' })).toMatchObject({ type: 'audio', mimeType: 'audio/flac' });
  });
});

describe('read_file as text', () => {
  test('is the numbered lines alone if all are there', async () => {
    using box = new Sandbox('openat2');
    box.file('f', 'one\ntwo\n');
    expect(await textOf(box, {})).toBe('1\tone\n2\ttwo');
    expect(await textOf(box, { offset_lines: 2 })).toBe('2\ttwo');
    expect(await textOf(box, { offset_lines: -1 })).toBe('2\ttwo');
    expect(await textOf(box, { offset_bytes: 4 })).toBe('two\n');
    box.file('f', '');
    expect(await textOf(box, {})).toBe('[empty file]');
    box.file('f', 'one\n');
    expect(await textOf(box, { offset_lines: 9 })).toBe('[nothing there; the file has 1 lines]');
  });

  test('says which lines these are and how to go on', async () => {
    using box = new Sandbox('openat2');
    box.file('f', TWENTY);
    const lines = (from: number, to: number) =>
      Array.from({ length: to - from + 1 }, (_, index) => `${from + index}\tline ${from + index}\n`).join('');
    expect(await textOf(box, { offset_lines: 3, limit_lines: 2 })).toBe(
      `${lines(3, 4)}[lines 3-4 of 20; next: {"offset_lines":5}]`,
    );
    expect(await textOf(box, {}, 25)).toBe(`${lines(1, 2)}[lines 1-2; next: {"offset_lines":3}]`);
    expect(await textOf(box, { offset_lines: 2, limit_lines: 9 }, 25)).toBe(
      `${lines(2, 3)}[lines 2-3 of 20; next: {"offset_lines":4,"limit_lines":7}]`,
    );
    expect(await textOf(box, { limit_bytes: 7 })).toBe('line 1\n\n[bytes 0-6 of 151; next: {"offset_bytes":7}]');
  });

  test('next leads through the whole file, by lines, from the end and by bytes', async () => {
    using box = new Sandbox('openat2');
    const all = Array.from({ length: 500 }, (_, index) => `line ${index} \u20ac`);
    box.file('f', all.join('\n'));
    const numbered = all.map((line, index) => `${index + 1}\t${line}`);
    expect((await pagesOf(box, {}, 1000)).join('\n').split('\n')).toEqual(numbered);
    expect((await pagesOf(box, { offset_lines: -70 }, 1000)).join('\n').split('\n')).toEqual(numbered.slice(-70));
    const some = await pagesOf(box, { offset_lines: 5, limit_lines: 300 }, 1000);
    expect(some.join('\n').split('\n').slice(0, 300)).toEqual(numbered.slice(4, 304));
    expect((await pagesOf(box, { offset_bytes: 0 }, 1000)).join('')).toBe(all.join('\n'));
    box.file('f', `${'y'.repeat(150_000)}\n`.concat(all.join('\n')));
    const tail = await pagesOf(box, { offset_lines: -70 }, 1000);
    expect(tail.join('\n').split('\n')).toEqual(all.slice(-70).map((line, index) => `${index - 70}\t${line}`));
    const bytes = Buffer.from(Array.from({ length: 999 }, (_, index) => (index % 256) | 0x80));
    box.file('f', bytes);
    const pages = await pagesOf(box, {}, 400);
    expect(Buffer.concat(pages.map((page) => Buffer.from(page.split('\n')[0] ?? '', 'base64')))).toEqual(bytes);
  });

  test('cuts a long line and gets its rest by bytes', async () => {
    using box = new Sandbox('openat2');
    const long = '\u20ac'.repeat(160_000);
    box.file('f', `first\n${long}\nlast\n`);
    const text = await textOf(box, {});
    expect(text.length).toBeLessThan(11_000);
    expect(text.split('\n').at(-1)).toBe('3\tlast');
    const rest = JSON.parse(/its rest: (\{.*?\})\]/.exec(text)?.[1] ?? '');
    const got = (await pagesOf(box, rest, 100_000)).join('');
    expect(got === `${long.slice(10_000)}\nlast\n`).toBe(true);
    box.file('f', Buffer.from(long, 'utf16le'));
    const utf16 = await textOf(box, { encoding: 'utf-16le' });
    expect(utf16).toContain(`{"offset_bytes":20000,"limit_bytes":300000}`);
  });

  test('goes on after a line that is longer than one read', async () => {
    using box = new Sandbox('openat2');
    box.file('f', `${'x'.repeat(3000)}\nlast\n`);
    expect(await textOf(box, { offset_lines: 1 }, 10_000, 1000)).toBe(
      `1\t${'x'.repeat(1000)} [line cut here; its rest: {"offset_bytes":1000}]\n[lines 1-1 of 2; next: {"offset_lines":2}]`,
    );
  });
});

describe('read_file as structured content with a limit', () => {
  test('cuts at a line and says how to go on', async () => {
    using box = new Sandbox('openat2');
    box.file('f', TWENTY);
    const form = { ...DEFAULT_RESULT_FORM, maxChars: 16 };
    const { result, text } = await run(box, { path: 'f' }, 1000, form);
    expect(result).toMatchObject({ content: 'line 1\nline 2\n', truncated: true, next: { offset_lines: 3 } });
    expect(text).toContain('; next: {"offset_lines":3}]');
    const bytes = await run(box, { path: 'f', limit_bytes: 50 }, 1000, form);
    expect(bytes.result).toMatchObject({ next: { offset_bytes: 14, limit_bytes: 36 } });
    box.file('f', 'x'.repeat(100));
    expect((await run(box, { path: 'f' }, 1000, form)).result).toMatchObject({ truncated: false });
  });
});
