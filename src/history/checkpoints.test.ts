import fs from 'node:fs';
import { expect, test } from 'vitest';
import { outcome, Sandbox } from '../fence/sandbox.fixture.ts';
import { addCheckpoint, checkpoints, newestCheckpoint } from './checkpoints.ts';
import { History } from './history.ts';

test('checkpoints are kept, newest first, and a name that is used again moves on', async () => {
  using box = new Sandbox('openat2');
  using history = History.open(box.root);
  expect(checkpoints(history)).toEqual([]);
  expect(newestCheckpoint(history)).toBeUndefined();
  const first = await addCheckpoint(history, 'before the agent');
  expect(first.change).toBeUndefined();
  const { step } = history.changeOf(undefined).begin({ kind: 'make', path: 'd' });
  expect(step.time).toBeGreaterThan(first.time);
  const second = await addCheckpoint(history);
  expect(second).toMatchObject({ name: 'checkpoint-1', change: step.change });
  expect(second.time).toBeGreaterThanOrEqual(step.time);
  expect((await addCheckpoint(history)).name).toBe('checkpoint-2');
  const moved = await addCheckpoint(history, 'before the agent');
  using other = History.open(box.root);
  expect(checkpoints(other).map(({ name }) => name)).toEqual(['before the agent', 'checkpoint-2', 'checkpoint-1']);
  expect(newestCheckpoint(other)).toEqual(moved);
});

test('odd names are refused', async () => {
  using box = new Sandbox('openat2');
  using history = History.open(box.root);
  const odd = [
    '',
    ' x',
    '../x',
    'a/b',
    'a:b',
    'a\nb',
    '-x',
    '15m',
    '2h',
    '1.5 h',
    '2026-11-18',
    'x'.repeat(65),
    'a\u0000b',
    '\u202ex',
  ];
  for (const name of odd)
    expect([name, await outcome(addCheckpoint(history, name))]).toEqual([name, 'invalid_checkpoint']);
  expect(checkpoints(history)).toEqual([]);
  for (const name of ['v1.2', 'release_3', 'vor dem Größten', '3 files', '2026'])
    expect([name, await outcome(addCheckpoint(history, name))]).toEqual([name, 'ok']);
});

test('what is planted or damaged in the file is nothing', async () => {
  using box = new Sandbox('openat2');
  using history = History.open(box.root);
  await addCheckpoint(history, 'one');
  const file = box.host('.ringfence/checkpoints');
  const line = fs.readFileSync(file, 'utf8');
  fs.appendFileSync(file, `${line.slice(0, 20)}\n${'x'.repeat(2_000_000)}`);
  await addCheckpoint(history, 'two');
  expect(checkpoints(history).map(({ name }) => name)).toEqual(['two']);
  fs.rmSync(file);
  fs.symlinkSync(box.host('../outside/secret'), file);
  expect(await outcome(() => checkpoints(history))).toBe('link_loop');
  expect(await outcome(addCheckpoint(history, 'three'))).toBe('link_loop');
  expect(fs.readFileSync(`${box.outside}/secret`, 'utf8')).toBe('secret');
});
