import fs from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseCallerPath } from '../../fence/index.ts';
import { memory, Sandbox } from '../../fence/sandbox.fixture.ts';
import { DEFAULT_CONTEXT } from '../../runtime/operation-context.ts';
import { LineIndexCache } from './line-index-cache.ts';
import { readFile } from './read-file.ts';

const MB = 1024 * 1024;
const LINES = 100_000;
/** A time in seconds that a filesystem stores exactly. */
const ROUND_TIME = 1_700_000_000;
const line = (number: number, mark = 'line') => `${mark} ${String(number).padStart(8, '0')} ${'.'.repeat(60)}\n`;
const log = (mark?: string, lines = LINES) => Array.from({ length: lines }, (_, at) => line(at + 1, mark)).join('');

/** Test files are always recent, so most tests turn the age check off. */
const newIndex = (options = {}) => new LineIndexCache({ settledMs: -1_000, ...options });

async function page({ root }: Sandbox, raw: string, lineIndex: LineIndexCache, offset: number, limit = 3) {
  const options = { range: { by: 'lines', offset, limit }, maxBytes: MB, lineIndex } as const;
  const { bytes, linesTotal } = await readFile(root, parseCallerPath(raw), options, DEFAULT_CONTEXT);
  return { content: bytes.toString(), linesTotal };
}

/** Returns how many bytes this process has read so far, from disk or page cache. */
const bytesRead = () => Number(/^rchar: (\d+)/m.exec(fs.readFileSync('/proc/self/io', 'utf8'))?.[1]);

test('reading the next page reads about a page, not the whole file', async () => {
  using box = new Sandbox('openat2', memory());
  box.file('app.log', log());
  const { size } = fs.statSync(box.host('app.log'));
  const index = newIndex();
  const before = bytesRead();
  await page(box, 'app.log', index, 1);
  const between = bytesRead();
  expect(between - before).toBeGreaterThan(size);
  for (const offset of [LINES - 2, LINES / 2, 2, 77_777]) {
    expect(await page(box, 'app.log', index, offset)).toEqual({
      content: line(offset) + line(offset + 1) + line(offset + 2),
      linesTotal: LINES,
    });
  }
  expect(bytesRead() - between).toBeLessThan(size / 2);
  expect(index.usage.files).toBe(1);
});

describe('a file is indexed again', () => {
  test.each([
    ['when it was appended to', (file: string) => fs.appendFileSync(file, 'one more\n')],
    ['when it was cut', (file: string) => fs.truncateSync(file, 2 * MB)],
    ['when a byte was changed in place', (file: string) => overwrite(file, 5, '\n')],
    ['when another of its size took its place', (file: string) => replace(file)],
    [
      'when it was changed in place and got its old time back',
      (file: string) => {
        overwrite(file, 5, '\n');
        fs.utimesSync(file, ROUND_TIME, ROUND_TIME);
      },
    ],
  ])('%s', async (_, change) => {
    using box = new Sandbox('openat2', memory());
    box.file('app.log', log());
    fs.utimesSync(box.host('app.log'), ROUND_TIME, ROUND_TIME);
    const index = newIndex();
    await page(box, 'app.log', index, 1);
    // Filesystem timestamps may have a resolution of several milliseconds.
    await new Promise((resolve) => setTimeout(resolve, 30));
    change(box.host('app.log'));
    for (const offset of [1, 2, 20_000]) {
      expect(await page(box, 'app.log', index, offset)).toEqual(await page(box, 'app.log', newIndex(), offset));
    }
  });
});

test('a file changed just before is not cached, since another change may have the same timestamp', async () => {
  using box = new Sandbox('openat2', memory());
  box.file('app.log', log());
  const index = new LineIndexCache();
  await page(box, 'app.log', index, 1);
  expect(index.usage).toEqual({ bytes: 0, files: 0 });
});

test('a file that changes while it is read is not cached', async () => {
  using box = new Sandbox('openat2', memory());
  box.file('app.log', log());
  const index = newIndex();
  const context = { ...DEFAULT_CONTEXT, progress: () => overwrite(box.host('app.log'), 5, 'x') };
  await new Promise((resolve) => setTimeout(resolve, 30));
  const options = { range: { by: 'lines', offset: 1, limit: 1 }, maxBytes: MB, lineIndex: index } as const;
  await readFile(box.root, parseCallerPath('app.log'), options, context);
  expect(index.usage.files).toBe(0);
});

test('memory is bounded: the least recently used file is evicted', async () => {
  using box = new Sandbox('openat2', memory());
  const names = ['a', 'b', 'c', 'd'];
  for (const name of names) box.file(name, log(name, 20_000));
  const index = newIndex({ maxBytes: 1_000 });
  for (const name of names) await page(box, name, index, 1);
  expect(index.usage.bytes).toBeLessThanOrEqual(1_000);
  expect(index.usage.files).toBeGreaterThan(1);
  expect(index.usage.files).toBeLessThan(names.length);
  const before = bytesRead();
  expect((await page(box, 'd', index, 19_000, 1)).content).toBe(line(19_000, 'd'));
  const between = bytesRead();
  expect((await page(box, 'a', index, 19_000, 1)).content).toBe(line(19_000, 'a'));
  expect(between - before).toBeLessThan((bytesRead() - between) / 2);
});

test('lines longer than a sample step, and no lines at all', async () => {
  using box = new Sandbox('openat2', memory());
  const long = 'y'.repeat(700_000);
  box.file('long', `${long}\nshort\n\n${long}\nlast`);
  box.file('none', 'z'.repeat(2 * MB));
  const index = newIndex();
  for (let round = 0; round < 2; round += 1) {
    expect(await page(box, 'long', index, 2, 2)).toEqual({ content: 'short\n\n', linesTotal: 5 });
    expect(await page(box, 'long', index, 4, 1)).toEqual({ content: `${long}\n`, linesTotal: 5 });
    expect(await page(box, 'long', index, 5, 9)).toEqual({ content: 'last', linesTotal: 5 });
    expect(await page(box, 'long', index, 6, 1)).toEqual({ content: '', linesTotal: 5 });
    expect(await page(box, 'none', index, 2, 1)).toEqual({ content: '', linesTotal: 1 });
    expect((await page(box, 'none', index, 1, 1)).content).toHaveLength(MB);
  }
});

function overwrite(file: string, position: number, text: string): void {
  const fd = fs.openSync(file, 'r+');
  fs.writeSync(fd, text, position);
  fs.closeSync(fd);
}

function replace(file: string): void {
  const content = fs.readFileSync(file, 'utf8');
  fs.writeFileSync(`${file}.new`, content.slice(1) + content.slice(0, 1));
  fs.renameSync(`${file}.new`, file);
}
