import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, expect, test } from 'vitest';
import type { CallEvent } from '../../audit/record-call.ts';
import { configFromDirs } from '../../config/folders/config-from-dirs.ts';
import { classic } from '../../dialects/classic/index.ts';
import { memory } from '../../dialects/memory/index.ts';
import { workspace } from '../../dialects/workspace/index.ts';
import { type Dialect, WARM_UP_ROOT } from '../../tools/dialect.ts';
import type { Service } from '../call/service.ts';
import { openService } from '../open-service.ts';
import { warmUpInBackground } from './warm-up.ts';

const folder = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), 'ringfence-warm-up-'));
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

/** A service whose tools note how each call ended, and on which roots the calls worked. */
function watched(dialect: Dialect) {
  const ended: string[] = [];
  const lines: string[] = [];
  const observed: CallEvent[] = [];
  const tools = dialect.tools.map((tool) => ({
    ...tool,
    run: async (...[args, context]: Parameters<typeof tool.run>) => {
      try {
        const result = await tool.run(args, context);
        ended.push(tool.name);
        return result;
      } catch (error) {
        ended.push(`${tool.name} failed: ${error}`);
        throw error;
      }
    },
  }));
  const service = openService({
    config: configFromDirs([folder]),
    dialect: { ...dialect, tools },
    logger: pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) }),
    observers: [(event) => observed.push(event)],
  });
  return { service, ended, lines, observed };
}

const options = (service: Service) => ({ load: async () => service, running: service.running });

test.each([workspace, classic, memory])('the warm-up calls of $name succeed and leave no trace', async (dialect) => {
  const { service, ended, lines, observed } = watched(dialect);
  service.roots.find = () => expect.fail('a warm-up call used a configured root');
  await warmUpInBackground(options(service)).ended;
  const names = (dialect.warmUpCalls ?? []).map(({ name }) => name);
  expect(names).not.toEqual([]);
  expect(new Set(ended)).toEqual(new Set(names));
  expect(lines).toEqual([]);
  expect(observed).toEqual([]);
  expect(service.activity?.figures()).toEqual([]);
  expect(service.running.size).toBe(0);
  await service.close();
});

test.each([workspace, classic, memory])('the warm-up calls of $name only read', ({ tools, warmUpCalls = [] }) => {
  for (const { name, args } of warmUpCalls) {
    expect(tools.find((tool) => tool.name === name)?.effect).toBe('read');
    expect([undefined, WARM_UP_ROOT]).toContain(args.root);
  }
});

test('calls of clients go first, and nothing is warmed after the end', async () => {
  const { service, ended } = watched(workspace);
  const call = service.running.start();
  const warmUp = warmUpInBackground(options(service));
  await sleep(100);
  expect(ended).toEqual([]);
  service.running.end(call);
  await expect.poll(() => ended.length).toBeGreaterThan(0);
  warmUp.stop();
  await warmUp.ended;
  const done = ended.length;
  expect(done).toBeLessThan(20);
  await sleep(50);
  expect(ended).toHaveLength(done);
  await service.close();
});

test('a dialect that cannot be loaded is left to the first call', async () => {
  const { service } = watched(workspace);
  const failing = { ...options(service), load: () => Promise.reject(new Error('no dialect')) };
  await expect(warmUpInBackground(failing).ended).resolves.toBeUndefined();
  await service.close();
});
