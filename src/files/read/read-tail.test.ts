import fs from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseCallerPath } from '../../fence/index.ts';
import { Sandbox } from '../../fence/sandbox.fixture.ts';
import { DEFAULT_CONTEXT } from '../../runtime/operation-context.ts';
import { LineIndexCache } from './line-index-cache.ts';
import { type ReadOptions, readFile, sliceBytes } from './read-file.ts';

const GB = 1024 ** 3;

async function tail(box: Sandbox, offset: number, options: ReadOptions & { limit?: number } = {}) {
  const { limit, ...rest } = options;
  const range = { by: 'lines', offset, limit } as const;
  const part = await readFile(box.root, parseCallerPath('f'), { range, ...rest }, DEFAULT_CONTEXT);
  const { bytes, start, truncated, linesTotal, firstLine, capped } = part;
  return { text: bytes.toString(), start, truncated, linesTotal, firstLine, ...(capped && { capped }) };
}

/** A file that is too large to be read whole, with these lines at its end. */
function largeFile(box: Sandbox, end: string, size = GB): void {
  box.file('f', 'first\n');
  fs.truncateSync(box.host('f'), size);
  fs.appendFileSync(box.host('f'), end);
}

/** Returns how many bytes this process has read so far (https://man7.org/linux/man-pages/man5/proc_pid_io.5.html). */
function bytesRead(): number {
  return Number(/^rchar: (\d+)$/m.exec(fs.readFileSync('/proc/self/io', 'utf8'))?.[1]);
}

describe('lines counted from the end', () => {
  test.each([
    ['a\nb\nc\n', -1, 'c\n', 3],
    ['a\nb\nc', -1, 'c', 3],
    ['a\nb\nc\n', -2, 'b\nc\n', 2],
    ['a\nb\nc\n', -3, 'a\nb\nc\n', 1],
    ['a\nb\nc\n', -9, 'a\nb\nc\n', 1],
    ['\n\n', -1, '\n', 2],
    ['', -5, '', 1],
  ])('of a small file %j from %d on are %j, and have their numbers', async (content, offset, text, firstLine) => {
    using box = new Sandbox('openat2');
    box.file('f', content);
    const found = await tail(box, offset);
    expect(found).toMatchObject({ text, firstLine, truncated: false, start: content.length - text.length });
    expect(found.linesTotal).toBe(content.split('\n').length - (content.endsWith('\n') || content === '' ? 1 : 0));
    const range = { by: 'lines', offset } as const;
    expect(sliceBytes(Buffer.from(content), { range, maxBytes: 100 })).toMatchObject({ firstLine });
  });

  test('of a sparse file of 1 GB are found by reading its end, without the total', async () => {
    using box = new Sandbox('openat2');
    largeFile(box, '\none\ntwo\nthree\n');
    await tail(box, -1);
    const before = process.memoryUsage().arrayBuffers;
    const bytes = bytesRead();
    const found = await tail(box, -2);
    expect(bytesRead() - bytes).toBeLessThan(1024 * 1024);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2 * 1024 * 1024);
    expect(found).toEqual({ text: 'two\nthree\n', start: GB + 5, truncated: false, firstLine: -2 });
    expect(await tail(box, -3, { limit: 1 })).toMatchObject({ text: 'one\n', truncated: true, firstLine: -3 });
  });

  test('are the same wherever a block begins', async () => {
    using box = new Sandbox('openat2');
    const all = Array.from({ length: 40_000 }, (_, index) => `${index} ${'x'.repeat(index % 17)}`);
    box.file('f', all.join('\n'));
    for (const count of [1, 2, 4095, 4096, 4097, 20_000, 39_999]) {
      expect((await tail(box, -count)).text).toBe(all.slice(-count).join('\n'));
    }
    expect(await tail(box, -50_000)).toMatchObject({ start: 0, firstLine: 1, linesTotal: 40_000 });
  });

  test('have their numbers where the cache knows the total', async () => {
    using box = new Sandbox('openat2');
    const lineIndex = new LineIndexCache({ settledMs: -1000 });
    box.file('f', 'some line\n'.repeat(200_000));
    expect(await tail(box, -2, { lineIndex })).toMatchObject({ firstLine: -2, linesTotal: undefined });
    await tail(box, 1, { lineIndex, limit: 1 });
    expect(await tail(box, -2, { lineIndex })).toMatchObject({ firstLine: 199_999, linesTotal: 200_000 });
  });

  test('that are longer than 8 MiB are found by the line index', async () => {
    using box = new Sandbox('openat2');
    largeFile(box, `\n${'x'.repeat(9 * 1024 * 1024)}\nend`, 1024 * 1024);
    const found = await tail(box, -2, { maxBytes: 100 });
    expect(found).toMatchObject({ text: 'x'.repeat(100), truncated: true, capped: true, firstLine: 3, linesTotal: 4 });
  });

  test('are cut to maxBytes between characters', async () => {
    using box = new Sandbox('openat2');
    largeFile(box, `\n${'\u20ac'.repeat(9)}\n`, 200_000);
    expect(await tail(box, -1, { maxBytes: 10 })).toMatchObject({ text: '\u20ac'.repeat(3), capped: true });
    expect(await tail(box, -1, { maxBytes: 28 })).toMatchObject({ text: `${'\u20ac'.repeat(9)}\n`, truncated: false });
  });
});
