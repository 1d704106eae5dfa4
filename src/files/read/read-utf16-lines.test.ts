import { describe, expect, test } from 'vitest';
import { parseCallerPath } from '../../fence/index.ts';
import { Sandbox } from '../../fence/sandbox.fixture.ts';
import { readFile } from './read-file.ts';

// U+0A00 and U+000A: the byte 0x0A alone does not end a line.
const LINES = ['one\u0a00\n', '\n', '\u0100\u0a0a three\n', '\u{1f600}'];

const bigEndian = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16();
const littleEndian = (text: string): Buffer => Buffer.from(text, 'utf16le');

describe.each([
  ['le', littleEndian],
  ['be', bigEndian],
] as const)('lines of UTF-16 (%s)', (utf16, encode) => {
  async function lines(box: Sandbox, offset: number, limit?: number, maxBytes = 1000) {
    const range = { by: 'lines', offset, limit } as const;
    const { mtimeMs, version, binary, ...part } = await readFile(box.root, parseCallerPath('f'), {
      range,
      utf16,
      maxBytes,
    });
    return part;
  }

  test('end at the character LF, and are counted', async () => {
    using box = new Sandbox('openat2');
    box.file('f', encode(LINES.join('')));
    const size = LINES.join('').length * 2;
    for (const [index, line] of LINES.entries()) {
      const start = LINES.slice(0, index).join('').length * 2;
      const bytes = encode(line);
      const rest = { start, bytes, size, truncated: index < 3, linesTotal: 4 };
      expect(await lines(box, index + 1, 1)).toEqual(rest);
      expect(await lines(box, index - 4, 1)).toEqual({ ...rest, firstLine: index + 1 });
    }
    expect((await lines(box, 1)).bytes).toEqual(encode(LINES.join('')));
    expect(await lines(box, 9)).toMatchObject({ bytes: Buffer.alloc(0), truncated: false, linesTotal: 4 });
    expect((await lines(box, -9)).start).toBe(0);
  });

  test('are cut at an even offset', async () => {
    using box = new Sandbox('openat2');
    box.file('f', encode('abcd\n'));
    expect(await lines(box, 1, 1, 5)).toMatchObject({ bytes: encode('ab'), truncated: true, capped: true });
    expect(await lines(box, 1, 1, 10)).toMatchObject({ truncated: false, linesTotal: 1 });
    box.file('f', '');
    expect(await lines(box, 1)).toMatchObject({ size: 0, truncated: false, linesTotal: 0 });
  });

  test('are the same in a file of several chunks', async () => {
    using box = new Sandbox('openat2');
    const all = Array.from({ length: 100_000 }, (_, index) => `${index}\u0a00\n`);
    box.file('f', encode(all.join('')));
    expect((await lines(box, 70_001, 2)).bytes).toEqual(encode('70000\u0a00\n70001\u0a00\n'));
    expect(await lines(box, -1)).toMatchObject({ bytes: encode('99999\u0a00\n'), firstLine: 100_000 });
  });
});
