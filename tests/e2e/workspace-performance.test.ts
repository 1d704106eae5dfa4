import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { memory } from '../../src/fence/sandbox.fixture.ts';
import { TRANSPORTS } from '../support/connections.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';
import { inWorkspace } from '../support/workspace.ts';

inWorkspace({}, (w) => {
  test('E2E-077 FR-004 NFR-002: 1,500 entries within two seconds', async () => {
    for (let index = 0; index < 1_500; index += 1) w.file(`big/${String(index).padStart(4, '0')}`);
    const started = performance.now();
    const { entries, count } = await w.ok('list_folder', { path: 'big' });
    expect(performance.now() - started).toBeLessThan(2_000);
    expect(count).toBe(1_500);
    expect(entries).toHaveLength(1_500);
    expect(entries[0].name).toBe('0000');
    expect(entries[1_499].name).toBe('1499');
  });

  test('E2E-078 FR-012 NFR-003: hashing 50 MB takes no 50 MB of memory', async () => {
    const chunk = Buffer.alloc(1024 * 1024, 'ringfence ');
    const host = w.file('large.bin');
    const expected = createHash('sha256');
    const fd = fs.openSync(host, 'w');
    for (let index = 0; index < 50; index += 1) {
      fs.writeSync(fd, chunk);
      expected.update(chunk);
    }
    fs.closeSync(fd);
    await w.ok('hash_file', { path: 'large.bin', algorithm: 'md5' });
    const before = memoryOf(w.server.pid, 'VmRSS');
    expect(await w.ok('hash_file', { path: 'large.bin', algorithm: 'sha256' })).toEqual({
      path: 'large.bin',
      algorithm: 'sha256',
      hash: expected.digest('hex'),
      size: 50 * 1024 * 1024,
    });
    // The peak of the whole run, so that a short spike counts too.
    expect(memoryOf(w.server.pid, 'VmHWM') - before).toBeLessThan(50 * 1024 * 1024);
  });

  test('NFR-003: reading lines far into a large file keeps none of what is skipped', async () => {
    const before = memoryOf(w.server.pid, 'VmRSS');
    const line = `${'x'.repeat(99)}\n`;
    w.file('log.txt', line.repeat(1_000_000));
    const part = await w.ok('read_file', { path: 'log.txt', offset_lines: 999_999, limit_lines: 1 });
    expect(part).toMatchObject({ content: line, lines_total: 1_000_000, truncated: true });
    expect(memoryOf(w.server.pid, 'VmHWM') - before).toBeLessThan(50 * 1024 * 1024);
  });

  test('E2E-079 FR-016 NFR-004: a search that runs out of time returns what it has found', async () => {
    w.file('a/first.txt', 'needle 1\n');
    const line = 'neeeed nothing here, nor in any other line of this file, that would match\n';
    const block = w.file('b/0000.txt', line.repeat(120_000));
    for (let index = 1; index < 2_000; index += 1)
      fs.linkSync(block, w.host(`b/${String(index).padStart(4, '0')}.txt`));
    // The workers start with the first searches, which would count as searching.
    await Promise.all(Array.from({ length: 8 }, () => w.ok('grep', { pattern: 'needle', path: 'a' })));
    const found = await w.ok('grep', { pattern: '(n|m)e+dl[a-f] \\d', timeout_seconds: 1 });
    expect(found).toMatchObject({ timed_out: true, total_matches: 1, truncated: false });
    expect(found.matches).toMatchObject([{ file: 'a/first.txt', line_content: 'needle 1' }]);
    expect((await w.ok('read_file', { path: 'a/first.txt' })).content).toBe('needle 1\n');
  });

  test('NFR-001 NFR-005: 50 calls at once all get their own answer', async () => {
    const calls = Array.from({ length: 50 }, async (_, index) => {
      const path = `f/${index}.txt`;
      const content = `file ${index}\n`.repeat(100);
      switch (index % 5) {
        case 0:
          return expect((await w.ok('write_file', { path, content })).size).toBe(content.length);
        case 1:
          w.file(path, content);
          return expect((await w.ok('read_file', { path })).content).toBe(content);
        case 2:
          w.file(`g${index}/x`);
          return expect((await w.ok('list_folder', { path: `g${index}` })).count).toBe(1);
        case 3:
          w.file(`h${index}/x`, `needle ${index}\n`);
          return expect((await w.ok('grep', { path: `h${index}`, pattern: 'needle' })).matches).toMatchObject([
            { file: `h${index}/x`, line_content: `needle ${index}` },
          ]);
        default:
          w.file(path, content);
          return expect((await w.ok('hash_file', { path, algorithm: 'sha1' })).hash).toBe(
            createHash('sha1').update(content).digest('hex'),
          );
      }
    });
    await Promise.all(calls);
    expect(fs.readFileSync(w.host('f/0.txt'), 'utf8')).toBe('file 0\n'.repeat(100));
  });

  test('NFR-024: two servers on one root do not disturb each other', async () => {
    await using other = await startServer({
      transport: 'stdio',
      roots: [{ name: 'workspace', path: w.host('') }],
      config: { durable_writes: false },
    });
    const writes = Array.from({ length: 40 }, (_, index) => {
      const args = { root: 'workspace', path: 'log.txt', content: `line ${index}\n`, mode: 'append' };
      return index % 2 === 0 ? w.server.call('write_file', args) : other.call('write_file', args);
    });
    for (const { isError } of await Promise.all(writes)) expect(isError).toBe(false);
    expect(w.text('log.txt').split('\n').filter(Boolean).sort()).toEqual(
      Array.from({ length: 40 }, (_, index) => `line ${index}`).sort(),
    );
    const args = { root: 'workspace', path: 'once.txt', content: 'x', mode: 'create_only' };
    const both = await Promise.all([w.server.call('write_file', args), other.call('write_file', args)]);
    expect(both.map(({ isError }) => isError).sort()).toEqual([false, true]);
    expect(w.tree()).toEqual(['log.txt', 'once.txt']);
  });
});

describe('a folder with 100,000 entries', () => {
  // In memory where that can be had: on a disk it takes longer to make them than to test with them.
  const base = tempDir('ringfence-', memory());
  const crowd = path.join(base, 'crowd');
  beforeAll(() => {
    fs.mkdirSync(crowd);
    for (let index = 0; index < 100_000; index += 1) {
      fs.closeSync(fs.openSync(`${crowd}/${String(index).padStart(6, '0')}`, 'w'));
    }
  }, 120_000);
  afterAll(() => fs.rmSync(base, { recursive: true, force: true }), 120_000);

  describe.each(TRANSPORTS)('$transport', ({ transport }) => {
    let server: TestServer;
    beforeAll(async () => {
      server = await startServer({ transport, roots: [{ name: 'workspace', path: crowd }] });
    });
    afterAll(() => server[Symbol.asyncDispose]());

    test('NFR-002: it is listed as far as an answer reaches, and says how many there are', async () => {
      const { isError, structured } = await server.call('list_folder', { root: 'workspace', path: '' });
      expect(isError).toBe(false);
      expect(structured.count).toBe(100_000);
      expect(structured.truncated).toBe(true);
      expect(structured.entries.length).toBeGreaterThanOrEqual(10_000);
      expect(structured.entries[0].name).toBe('000000');
      const last = structured.entries.length - 1;
      expect(structured.entries[last].name).toBe(String(last).padStart(6, '0'));
    });

    test('it is searched in order', async () => {
      const { structured } = await server.call('glob', { root: 'workspace', pattern: '*9', max_results: 3 });
      expect(structured.truncated).toBe(true);
      expect(structured.matches.map((match: { path: string }) => match.path)).toEqual(['000009', '000019', '000029']);
    });
  });

  test('NFR-001: others are answered while it is listed', async () => {
    await using server = await startServer({ roots: [{ name: 'workspace', path: crowd }] });
    const { result, answers } = await answersWhile(server, () =>
      server.call('list_folder', { root: 'workspace', path: '' }),
    );
    expect(result.structured.count).toBe(100_000);
    expect(answers).toBeGreaterThan(MEANWHILE);
  });
});

describe('the server answers others', () => {
  const base = tempDir('ringfence-', memory());
  let server: TestServer;
  beforeAll(async () => {
    // Lines at its beginning, then a gigabyte that takes no room.
    fs.writeFileSync(path.join(base, 'huge'), 'one\ntwo\n');
    fs.truncateSync(path.join(base, 'huge'), 1024 ** 3);
    server = await startServer({ roots: [{ name: 'workspace', path: base }] });
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    fs.rmSync(base, { recursive: true, force: true });
  });

  test('NFR-001: while it hashes a gigabyte', async () => {
    const args = { root: 'workspace', path: 'huge', algorithm: 'sha256' };
    const { result, answers } = await answersWhile(server, () => server.call('hash_file', args));
    expect(result.structured.size).toBe(1024 ** 3);
    expect(answers).toBeGreaterThan(MEANWHILE);
  });

  test('NFR-001: while it counts the lines of a gigabyte', async () => {
    const args = { root: 'workspace', path: 'huge', offset_lines: 2, limit_lines: 1 };
    const { result, answers } = await answersWhile(server, () => server.call('read_file', args));
    expect(result.structured).toMatchObject({ content: 'two\n', lines_total: 3 });
    expect(answers).toBeGreaterThan(MEANWHILE);
  });

  test('NFR-001 NFR-015: while it patches 60 MB', async () => {
    const file = path.join(base, 'large.txt');
    const line = 'x'.repeat(59);
    fs.writeFileSync(file, `first\n${`${line}\n`.repeat(1_000_000)}`);
    const patch = `@@ -1 +1 @@\n-first\n+FIRST\n@@ -1000001 +1000001 @@\n-${line}\n+last\n`;
    const args = { root: 'workspace', path: 'large.txt', patch };
    const { result, answers } = await answersWhile(server, () => server.call('patch_file', args));
    expect(result.structured).toEqual({
      path: 'large.txt',
      hunks_applied: 2,
      hunks: [{ line: 1 }, { line: 1_000_001 }],
      diff: expect.stringContaining('-first\n+FIRST\n'),
      version: expect.any(String),
    });
    const content = fs.readFileSync(file, 'latin1');
    expect(content.length).toBe(60_000_006 - line.length + 'last'.length);
    expect([content.slice(0, 6), content.slice(-6)]).toEqual(['FIRST\n', '\nlast\n']);
    expect(answers).toBeGreaterThan(MEANWHILE);
  });
});

inWorkspace({}, (w) => {
  test('NFR-003: the second page of a log does not read the log', async () => {
    const log = w.file(
      'app.log',
      Array.from({ length: 300_000 }, (_, index) => `line ${index + 1} of the log\n`).join(''),
    );
    // What changed a moment ago is not remembered.
    while (Date.now() - fs.statSync(log).ctimeMs <= 2_000) await new Promise((resolve) => setTimeout(resolve, 100));
    const pages = [];
    for (const offset_lines of [1, 200_001]) {
      const before = bytesReadBy(w.server.pid);
      const { content, lines_total } = await w.ok('read_file', { path: 'app.log', offset_lines, limit_lines: 2 });
      expect(content).toBe(`line ${offset_lines} of the log\nline ${offset_lines + 1} of the log\n`);
      expect(lines_total).toBe(300_000);
      pages.push(bytesReadBy(w.server.pid) - before);
    }
    const { size } = fs.statSync(log);
    expect(pages[0]).toBeGreaterThan(size);
    expect(pages[1]).toBeLessThan(size / 4);
  });
});

function bytesReadBy(pid: number): number {
  return Number(/^rchar: (\d+)/m.exec(fs.readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]);
}

/** What a server could answer that does its work in one go: a request before it, one after it, and one that is on its way. */
const MEANWHILE = 3;

/** How many times the server says that it is well while it works on a call. */
async function answersWhile<T>({ url }: TestServer, work: () => Promise<T>): Promise<{ result: T; answers: number }> {
  let working = true;
  const running = work().finally(() => {
    working = false;
  });
  let answers = 0;
  while (working) {
    const response = await fetch(new URL('/health', url));
    expect(await response.text()).toBe('ok');
    if (working) answers += 1;
  }
  return { result: await running, answers };
}

function memoryOf(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const line = fs.readFileSync(`/proc/${pid}/status`, 'utf8').match(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm'));
  return Number(line?.[1]) * 1024;
}
