import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { expect, test } from 'vitest';
import { parseCallerPath } from '../../fence/index.ts';
import { memory, onEveryBackend, outcome, Sandbox } from '../../fence/sandbox.fixture.ts';
import { DEFAULT_CONTEXT } from '../../runtime/operation-context.ts';
import { type HASH_ALGORITHMS, hashFile } from './hash-file.ts';

const hash = ({ root }: Sandbox, raw: string, algorithm: (typeof HASH_ALGORITHMS)[number] = 'sha256') =>
  hashFile(root, parseCallerPath(raw), algorithm, DEFAULT_CONTEXT);

onEveryBackend((open) => {
  test('hashes match known values', async () => {
    using box = open();
    box.file('abc', 'abc');
    box.file('empty', '');
    expect(await hash(box, 'abc', 'md5')).toEqual({ hash: '900150983cd24fb0d6963f7d28e17f72', size: 3 });
    expect(await hash(box, 'abc', 'sha1')).toEqual({ hash: 'a9993e364706816aba3e25717850c26c9cd0d89d', size: 3 });
    expect(await hash(box, 'empty')).toEqual({
      hash: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
      size: 0,
    });
  });

  test('hashes files of sizes around the chunk size', async () => {
    using box = open();
    for (const size of [32 * 1024 - 1, 32 * 1024, 32 * 1024 + 1]) {
      const content = Buffer.alloc(size, 'xyz');
      box.file('f', content);
      expect(await hash(box, 'f')).toEqual({ hash: createHash('sha256').update(content).digest('hex'), size });
    }
  });

  test('hashes regular files only', async () => {
    using box = open();
    box.folder('d');
    execFileSync('mkfifo', [box.host('p')]);
    box.link('../outside/secret', 'out');
    expect(await outcome(hash(box, 'd'))).toBe('is_directory');
    expect(await outcome(hash(box, 'p'))).toBe('special_file');
    expect(await outcome(hash(box, 'none'))).toBe('not_found');
    expect(await outcome(hash(box, 'out'))).toBe('outside_root');
  });
});

test('hashing a large file uses little memory, yields to other work and can be aborted', async () => {
  using box = new Sandbox('openat2', memory());
  fs.writeFileSync(box.host('big'), '');
  fs.truncateSync(box.host('big'), 300 * 1024 * 1024);
  const before = process.memoryUsage().rss;
  let ticks = 0;
  const timer = setInterval(() => {
    ticks += 1;
  }, 1);
  const { size } = await hash(box, 'big');
  clearInterval(timer);
  expect(size).toBe(300 * 1024 * 1024);
  expect(ticks).toBeGreaterThan(3);
  expect(process.memoryUsage().rss - before).toBeLessThan(16 * 1024 * 1024);
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 5);
  const context = { signal: stop.signal, progress: () => {} };
  expect(await outcome(hashFile(box.root, parseCallerPath('big'), 'sha256', context))).toBe('cancelled');
});
