import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { noTerminal, runOnTerminal } from '../support/pty.ts';
import { runRingfence, spawnRingfence } from '../support/ringfence-process.ts';
import { tempDir } from '../support/temp-dir.ts';

const dir = tempDir();
afterAll(() => fs.rmSync(dir, { recursive: true, force: true }));

const CALL = {
  level: 'info',
  time: '2026-03-04T15:06:07.000Z',
  tool: 'read_file',
  dialect: 'workspace',
  client: 'alice',
  root: 'notes',
  path: 'a.txt',
  outcome: 'success',
  duration_ms: 1.25,
  response_bytes: 2048,
  msg: 'call',
};
const FAILED = { ...CALL, tool: 'stat_file', client: 'bob', outcome: 'error', code: 'not_found' };
const DENIED = { ...FAILED, level: 'warn', code: 'outside_root', violation: 'outside_root', msg: 'security violation' };

let files = 0;
function logOf(...lines: (object | string)[]): string {
  files += 1;
  const file = path.join(dir, `${files}.log`);
  fs.writeFileSync(file, lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''));
  return file;
}

const UTC = { TZ: 'UTC' };

describe('ringfence logs', () => {
  test('shows one line a call, messages with their fields, and other lines as they are', async () => {
    const file = logOf(
      CALL,
      FAILED,
      DENIED,
      { level: 'info', time: CALL.time, url: 'http://x', msg: 'listening' },
      'plain',
    );
    const { code, stdout } = await runRingfence(['logs', file], { env: UTC });
    expect(code).toBe(0);
    const [call, failed, denied, ...rest] = stdout.split('\n');
    expect(call).toMatch(/^2026-03-04 15:06:07 +alice +read_file +ok +1\.3 ms +2\.0K +notes:a\.txt$/);
    expect(failed).toMatch(/bob +stat_file +not_found/);
    expect(denied).toMatch(/VIOLATION outside_root/);
    expect(rest).toEqual(['2026-03-04 15:06:07  listening  url=http://x', 'plain', '']);
  });

  test('reads stdin, and chooses by tool, client and failure', async () => {
    const stdin = fs.readFileSync(logOf(CALL, FAILED, DENIED, 'plain'), 'utf8');
    const lines = async (...args: string[]) =>
      (await runRingfence(['logs', ...args], { stdin })).stdout.trimEnd().split('\n');
    expect(await lines('-')).toHaveLength(4);
    expect(await lines('--tool', 'read_file')).toHaveLength(1);
    expect(await lines('--client', 'bob')).toHaveLength(2);
    expect(await lines('--errors', '--client', 'bob', '--tool', 'stat_file')).toHaveLength(2);
    expect(await lines('--errors', '--client', 'alice')).toEqual(['']);
  });

  test('nothing in a log moves the cursor, colours the terminal or begins a line of its own', async () => {
    const evil = 'a\u001b[2J\nforged\u202e';
    const file = logOf({ ...CALL, path: evil, client: evil, [evil]: evil }, `x\u001b[31m${evil.replace('\n', '')}`);
    const { stdout } = await runRingfence(['logs', file]);
    expect(stdout.split('\n')).toHaveLength(3);
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
  });

  test('a summary counts by tool, client and error code', async () => {
    const calls = Array.from({ length: 100 }, (_, at) => ({ ...CALL, duration_ms: at + 1 }));
    const file = logOf(...calls, FAILED, DENIED);
    const { stdout } = await runRingfence(['logs', file, '--summary', '--json']);
    const { calls: all, errors, tools, clients, codes } = JSON.parse(stdout);
    expect([all, errors]).toEqual([102, 2]);
    const [read] = tools;
    expect(read).toMatchObject({ tool: 'read_file', calls: 100, errors: 0, max_ms: 100, bytes: 204_800 });
    expect(Math.abs(read.p50_ms - 50)).toBeLessThan(4);
    expect(Math.abs(read.p95_ms - 95)).toBeLessThan(6);
    expect(clients.map(({ client }: { client: string }) => client)).toEqual(['alice', 'bob']);
    expect(codes).toEqual([
      { code: 'not_found', count: 1 },
      { code: 'outside_root', count: 1 },
    ]);
    const shown = (await runRingfence(['logs', file, '--summary'])).stdout;
    expect(shown).toMatch(/^tool +calls +errors +p50 +p95 +max +bytes$/m);
    expect(shown).toMatch(/^read_file +100 +0 /m);
  });

  test('follows growth, truncation and rotation', async () => {
    const file = logOf('one');
    const child = spawnRingfence(['logs', '--follow', file]);
    let shown = '';
    child.stdout.on('data', (chunk: Buffer) => {
      shown += chunk;
    });
    const until = (text: string) => expect.poll(() => shown, { timeout: 10_000 }).toContain(text);
    try {
      await until('one\n');
      fs.appendFileSync(file, 'two\n');
      await until('two\n');
      fs.truncateSync(file);
      await new Promise((resolve) => setTimeout(resolve, 600));
      fs.appendFileSync(file, '3\n');
      await until('3\n');
      fs.renameSync(file, `${file}.1`);
      fs.appendFileSync(`${file}.1`, 'late\n');
      fs.writeFileSync(file, 'new\n');
      await until('late\nnew\n');
    } finally {
      child.kill();
      await once(child, 'close');
    }
    expect(shown).toBe('one\ntwo\n3\nlate\nnew\n');
  });

  test('a large log takes little memory', async () => {
    const file = logOf();
    const block = `${JSON.stringify(CALL)}\n`.repeat(20_000);
    for (let at = 0; at < 12; at += 1) fs.appendFileSync(file, block);
    expect(fs.statSync(file).size).toBeGreaterThan(45_000_000);
    const limited = { nodeOptions: ['--max-old-space-size=32'] };
    const { code, stdout } = await runRingfence(['logs', file, '--summary', '--json'], limited);
    expect([code, JSON.parse(stdout || '{}').calls]).toEqual([0, 240_000]);
  });

  test('says what is wrong in one line', async () => {
    const missing = await runRingfence(['logs', path.join(dir, 'missing.log')]);
    expect([missing.code, missing.stderr]).toEqual([
      1,
      expect.stringMatching(/^ringfence: cannot read .*no such file\n$/),
    ]);
    expect((await runRingfence(['logs', '--json', logOf()])).code).toBe(2);
    expect((await runRingfence(['logs', '--help'])).stdout).toContain('Examples:');
  });

  test.skipIf(noTerminal)('violations stand out on a terminal', async () => {
    const { screen } = await runOnTerminal(['logs', logOf(CALL, DENIED)]);
    expect(screen).toContain('\u001b[1;41;97mVIOLATION outside_root\u001b[0m');
  });
});

describe('the log of ringfence serve', () => {
  test.skipIf(noTerminal)('is for people on a terminal', async () => {
    const { screen } = await runOnTerminal(['serve', '--port', '0', dir], [['listening', '\u0003']], { NO_COLOR: '1' });
    expect(screen).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}listening {2}version=/m);
    expect(screen).not.toContain('{"level"');
  });

  test('is JSON in a pipe, unless asked otherwise', async () => {
    const start = async (...args: string[]) => {
      const child = spawnRingfence(['serve', '--port', '0', ...args, dir]);
      let log = '';
      child.stderr.on('data', (chunk: Buffer) => {
        log += chunk;
      });
      await expect.poll(() => log, { timeout: 10_000 }).toContain('listening');
      child.kill();
      await once(child, 'close');
      return log;
    };
    expect(await start()).toMatch(/^\{"level":"info"/);
    expect(await start('--log-format', 'json')).toMatch(/^\{"level":"info"/);
    expect(await start('--log-format', 'pretty')).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}listening/);
    const wrong = await runRingfence(['serve', '--log-format', 'xml', dir]);
    expect([wrong.code, wrong.stderr]).toEqual([2, 'ringfence: --log-format: must be json or pretty, got xml\n']);
  });
});
