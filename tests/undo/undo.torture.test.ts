import fs from 'node:fs';
import { expect, test } from 'vitest';
import { memory } from '../../src/fence/sandbox.fixture.ts';
import { PastBox } from '../../src/undo/past-box.fixture.ts';
import { furnishOddly, randomNumbers, workRandomly } from '../../src/undo/random-work.fixture.ts';

const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(2)} s`;

test('5,000 random changes are taken back exactly, and within seconds', async () => {
  using past = new PastBox('openat2');
  furnishOddly(past);
  const before = past.look();
  const done = await workRandomly(past, randomNumbers(5), 5_000);
  const planning = performance.now();
  const plan = past.plan();
  const planned = seconds(planning);
  expect(plan.conflicts).toEqual([]);
  const applying = performance.now();
  await past.undo();
  console.log(`${done} changes, ${plan.actions.length} actions: planned in ${planned}, undone in ${seconds(applying)}`);
  past.expectSame(before);
  expect(performance.now() - planning).toBeLessThan(60_000);
}, 600_000);

test('a removed folder of 100,000 files comes back by one rename', async () => {
  using past = new PastBox('openat2', {}, memory());
  for (let folder = 0; folder < 100; folder += 1) {
    past.box.folder(`d/${folder}`);
    for (let file = 0; file < 1_000; file += 1) fs.writeFileSync(past.box.host(`d/${folder}/${file}`), '');
  }
  const { ino } = fs.statSync(past.box.host('d/99/999'));
  await past.remove('d');
  const begun = performance.now();
  const plan = past.plan();
  const planned = seconds(begun);
  expect(plan.actions.map(({ effect, path }) => `${effect} ${path}`)).toEqual(['restore d']);
  const applying = performance.now();
  await past.undo();
  console.log(`100,000 files: planned in ${planned}, planned and undone in ${seconds(applying)}`);
  expect(fs.statSync(past.box.host('d/99/999')).ino).toBe(ino);
}, 600_000);
