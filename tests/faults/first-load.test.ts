import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ProcessLog, spawnRingfence, writeConfig } from '../support/ringfence-process.ts';
import { tempDir } from '../support/temp-dir.ts';

const TOP = fileURLToPath(new URL('../../', import.meta.url));
const canSetLimits = spawnSync('prlimit', ['--version']).status === 0;

/**
 * A server on stdio, from a copy of the package, that has loaded nothing for calls yet. Its root cannot be written to by
 * default: the sweep of another would load modules a second after the start, perhaps while they are taken away.
 */
async function startFromCopy({ allowed = ['read_file'], before = (_dist: string): void => {} } = {}) {
  const copy = tempDir();
  const dist = path.join(copy, 'dist');
  fs.cpSync(path.join(TOP, 'dist'), dist, { recursive: true });
  fs.cpSync(path.join(TOP, 'package.json'), path.join(copy, 'package.json'));
  fs.symlinkSync(path.join(TOP, 'node_modules'), path.join(copy, 'node_modules'));
  before(dist);
  const served = tempDir();
  fs.writeFileSync(path.join(served, 'f'), 'content');
  const config = writeConfig({ roots: [{ name: 'served', path: served, allowed_tools: allowed }] });
  const child = spawnRingfence(['stdio', '--config', config], { program: path.join(dist, 'bin.js') });
  onTestFinished(() => void child.kill('SIGKILL'));
  const log = new ProcessLog(child);
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += chunk;
  });
  await log.waitFor(({ msg }) => msg === 'serving');
  const answers = () =>
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  const ask = async (id: number, method: string, params: object) => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return expect.poll(() => answers().find((answer) => answer.id === id), { timeout: 20_000 });
  };
  const initialize = () => {
    const clientInfo = { name: 't', version: '0' };
    return ask(0, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
  };
  const read = { name: 'read_file', arguments: { root: 'served', path: 'f' } };
  const call = async (id: number) => {
    if (answers().length === 0) await initialize();
    return ask(id, 'tools/call', read);
  };
  return { dist, child, log, ask, call };
}

const RESULT = { result: { structuredContent: { content: 'content' } } };

describe('a server that cannot load its tools for the first call', () => {
  test('because dist/ is being replaced says so, logs it, and loads them when they are there', async () => {
    const { dist, log, call } = await startFromCopy();
    fs.renameSync(dist, `${dist}.old`);
    await (await call(1)).toMatchObject({
      error: { code: -32603, message: expect.stringContaining('files of the program') },
    });
    await log.waitFor(({ level, problem }) => level === 'error' && typeof problem === 'string');
    // Complete at no moment, as the server may look at any.
    fs.cpSync(`${dist}.old`, `${dist}.new`, { recursive: true });
    fs.truncateSync(path.join(`${dist}.new`, 'server/call/tool-caller.js'), 10);
    fs.renameSync(`${dist}.new`, dist);
    await (await call(2)).toMatchObject({ error: { code: -32603 } });
    fs.rmSync(dist, { recursive: true });
    fs.renameSync(`${dist}.old`, dist);
    await (await call(3)).toMatchObject(RESULT);
  });

  test('because dist/ is being replaced does not sweep either, which would break them for good', async () => {
    const module = 'files/remove/remove-folder.js';
    const { dist, log, call } = await startFromCopy({
      allowed: ['*'],
      before: (copy) => fs.truncateSync(path.join(copy, module), 10),
    });
    await log.waitFor(({ msg }) => msg === 'sweep failed');
    fs.copyFileSync(path.join(TOP, 'dist', module), path.join(dist, module));
    await (await call(1)).toMatchObject(RESULT);
  });

  test('for a request that only the SDK answers lets it wait', async () => {
    const { dist, log, ask } = await startFromCopy();
    fs.renameSync(dist, `${dist}.old`);
    const answer = await ask(1, 'resources/list', {});
    await log.waitFor(({ problem }) => problem !== undefined);
    fs.renameSync(`${dist}.old`, dist);
    await answer.toBeDefined();
  });

  test.runIf(canSetLimits)('because it has no descriptors left says so, and loads them when it has', async () => {
    const { child, call } = await startFromCopy();
    const limit = (soft: number) => spawnSync('prlimit', ['--pid', String(child.pid), `--nofile=${soft}:`]).status;
    expect(limit(40)).toBe(0);
    await (await call(1)).toMatchObject({ error: { code: -32603, message: expect.stringContaining('descriptors') } });
    limit(1024);
    await (await call(2)).toMatchObject(RESULT);
  });

  test('because a module is broken ends, since Node loads no module again that failed once', async () => {
    const { dist, child, log, call } = await startFromCopy();
    const module = path.join(dist, 'server/call/tool-caller.js');
    fs.writeFileSync(module, '?'.repeat(fs.statSync(module).size));
    const exit = once(child, 'exit');
    await call(1);
    expect((await exit)[0]).toBe(1);
    expect(log.text).toContain('the server ends');
  });
});
