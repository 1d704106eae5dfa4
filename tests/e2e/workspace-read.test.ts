import { expect, test } from 'vitest';
import { inWorkspace, VERSION } from '../support/workspace.ts';

const HUNDRED = Array.from({ length: 100 }, (_, index) => `line ${index + 1}\n`).join('');

inWorkspace({}, (w) => {
  test('E2E-007 FR-005 NFR-001: a small file is read whole', async () => {
    const content = 'x'.repeat(99).concat('\n');
    w.file('small.txt', content);
    const { structured, text } = await w.call('read_file', { root: 'workspace', path: 'small.txt' });
    expect(structured).toEqual({ content, encoding: 'utf-8', size: 100, truncated: false, version: VERSION });
    expect(text).toContain(content.trimEnd());
  });

  test('FR-005: the text for people has line numbers and the metadata at its end', async () => {
    w.file('code.txt', 'one\ntwo\n\nfour');
    const { text } = await w.call('read_file', { root: 'workspace', path: 'code.txt' });
    const lines = text.split('\n');
    expect(lines.slice(0, -1).map((line) => line.trimStart())).toEqual(['1\tone', '2\ttwo', '3\t', '4\tfour']);
    expect(lines.at(-1)).toMatch(/^\[size: 13 bytes/);
    const part = await w.call('read_file', { root: 'workspace', path: 'code.txt', offset_lines: 4 });
    expect(part.text.trimStart()).toMatch(/^4\tfour\n/);
  });

  test('E2E-009 FR-005: a byte range is exact', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
    w.file('data.bin', bytes);
    const part = await w.ok('read_file', { path: 'data.bin', offset_bytes: 10, limit_bytes: 20 });
    expect(Buffer.from(part.content, part.encoding)).toEqual(bytes.subarray(10, 30));
    expect(part).toMatchObject({ size: 256, truncated: true, binary: true });
    const rest = await w.ok('read_file', { path: 'data.bin', offset_bytes: 200 });
    expect(rest).toMatchObject({ encoding: 'base64', size: 256, truncated: false });
    expect(Buffer.from(rest.content, 'base64')).toEqual(bytes.subarray(200));
    const first = await w.ok('read_file', { path: 'data.bin', limit_bytes: 256 });
    expect(Buffer.from(first.content, first.encoding)).toEqual(bytes);
    expect(first.truncated).toBe(false);
  });

  test('E2E-010 FR-005: a line range starts at the line asked for', async () => {
    w.file('lines.txt', HUNDRED);
    expect(await w.ok('read_file', { path: 'lines.txt', offset_lines: 50, limit_lines: 5 })).toEqual({
      content: 'line 50\nline 51\nline 52\nline 53\nline 54\n',
      encoding: 'utf-8',
      size: HUNDRED.length,
      truncated: true,
      lines_total: 100,
      version: VERSION,
    });
    const last = await w.ok('read_file', { path: 'lines.txt', offset_lines: 99, limit_lines: 5 });
    expect(last).toMatchObject({ content: 'line 99\nline 100\n', truncated: false, lines_total: 100 });
    const head = await w.ok('read_file', { path: 'lines.txt', limit_lines: 1 });
    expect(head).toMatchObject({ content: 'line 1\n', truncated: true });
    const tail = await w.ok('read_file', { path: 'lines.txt', offset_lines: 100 });
    expect(tail).toMatchObject({ content: 'line 100\n', truncated: false });
  });

  test.each([
    { offset_bytes: 0, offset_lines: 1 },
    { limit_bytes: 1, limit_lines: 1 },
    { offset_bytes: 0, limit_lines: 1 },
    { limit_bytes: 1, offset_lines: 1 },
  ])('E2E-011 FR-005: bytes and lines exclude each other: %j', async (range) => {
    w.file('file.txt', 'content');
    const text = await w.fails('read_file', { path: 'file.txt', ...range });
    expect(text).toContain('byte and line parameters are mutually exclusive');
    expect(text).toContain('(root: workspace)');
  });

  test('E2E-012 FR-005: an offset beyond the end gives nothing, and the number of lines', async () => {
    w.file('short.txt', '1\n2\n3\n4\n5\n');
    expect(await w.ok('read_file', { path: 'short.txt', offset_lines: 100, limit_lines: 10 })).toEqual({
      content: '',
      encoding: 'utf-8',
      size: 10,
      truncated: false,
      lines_total: 5,
      version: VERSION,
    });
    const { text } = await w.call('read_file', { root: 'workspace', path: 'short.txt', offset_lines: 100 });
    expect(text).toContain('lines_total: 5');
    const bytes = await w.ok('read_file', { path: 'short.txt', offset_bytes: 1000, limit_bytes: 10 });
    expect(bytes).toEqual({ content: '', encoding: 'utf-8', size: 10, truncated: false, version: VERSION });
  });

  test('E2E-013 FR-005: a NUL in the first 8 KB is binary, one after it is not', async () => {
    w.file('image.bin', Buffer.concat([Buffer.alloc(8191, 'a'), Buffer.from([0])]));
    w.file('late.bin', Buffer.concat([Buffer.alloc(8192, 'a'), Buffer.from([0])]));
    const image = await w.ok('read_file', { path: 'image.bin', offset_bytes: 0, limit_bytes: 100 });
    expect(image).toEqual({
      content: 'a'.repeat(100),
      encoding: 'utf-8',
      size: 8192,
      truncated: true,
      binary: true,
      version: VERSION,
    });
    expect((await w.ok('read_file', { path: 'image.bin' })).binary).toBe(true);
    expect((await w.ok('read_file', { path: 'image.bin', limit_lines: 1 })).binary).toBe(true);
    expect('binary' in (await w.ok('read_file', { path: 'late.bin', limit_bytes: 100 }))).toBe(false);
  });

  test('FR-005: what is no file cannot be read', async () => {
    w.folder('folder');
    expect(await w.fails('read_file', { path: 'src/main.go' })).toBe('file not found: src/main.go (root: workspace)');
    expect(await w.fails('read_file', { path: 'folder' })).toContain('path is a directory: folder');
  });

  test('an empty file, in all three ways', async () => {
    w.file('empty');
    const empty = { content: '', encoding: 'utf-8', size: 0, truncated: false, version: VERSION };
    expect(await w.ok('read_file', { path: 'empty' })).toEqual(empty);
    expect(await w.ok('read_file', { path: 'empty', offset_bytes: 0 })).toEqual(empty);
    expect(await w.ok('read_file', { path: 'empty', offset_lines: 1 })).toEqual({ ...empty, lines_total: 0 });
  });

  test('lines end at LF alone, and a last line needs none', async () => {
    w.file('mixed.txt', 'a\r\nb\rc\u2028d\ne');
    const read = (line: number) => w.ok('read_file', { path: 'mixed.txt', offset_lines: line, limit_lines: 1 });
    expect(await read(1)).toMatchObject({ content: 'a\r\n', lines_total: 3, truncated: true });
    expect(await read(2)).toMatchObject({ content: 'b\rc\u2028d\n', truncated: true });
    expect(await read(3)).toMatchObject({ content: 'e', truncated: false });
  });

  test('bytes that are not UTF-8 come as base64, and whole', async () => {
    const latin1 = Buffer.from('caf\u00e9\n', 'latin1');
    w.file('latin1.txt', latin1);
    const { content, encoding } = await w.ok('read_file', { path: 'latin1.txt' });
    expect(encoding).toBe('base64');
    expect(Buffer.from(content, 'base64')).toEqual(latin1);
    // Half a character of a text file.
    w.file('euro.txt', '\u20ac');
    const half = await w.ok('read_file', { path: 'euro.txt', limit_bytes: 2 });
    expect(half).toMatchObject({ encoding: 'base64', content: Buffer.from([0xe2, 0x82]).toString('base64') });
  });
});

inWorkspace({ config: { max_full_read_size: 100 } }, (w) => {
  test('E2E-008 FR-005 FR-018: a file over the threshold must be read in parts', async () => {
    w.file('large.txt', 'x'.repeat(500));
    expect(await w.fails('read_file', { path: 'large.txt' })).toBe(
      'file too large for full read (size: 500 bytes, limit: 100 bytes); use offset/limit parameters: large.txt (root: workspace)',
    );
    w.file('fits.txt', 'x'.repeat(100));
    expect((await w.ok('read_file', { path: 'fits.txt' })).size).toBe(100);
    w.sparse('huge.txt', 5_452_595);
    expect(await w.fails('read_file', { path: 'huge.txt' })).toContain('(size: 5.2MB, limit: 100 bytes)');
  });

  test('FR-005: the threshold also caps a part, which says that there is more', async () => {
    w.file('large.txt', 'x'.repeat(500));
    const part = await w.ok('read_file', { path: 'large.txt', offset_bytes: 0, limit_bytes: 400 });
    expect(part).toMatchObject({ content: 'x'.repeat(100), size: 500, truncated: true });
    const line = await w.ok('read_file', { path: 'large.txt', offset_lines: 1 });
    expect(line).toMatchObject({ size: 500, truncated: true, lines_total: 1 });
    expect(line.content).toBe('x'.repeat(100));
  });
});
