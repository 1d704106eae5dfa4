import { expect, test } from 'vitest';
import { KeyedMutex } from './keyed-mutex.ts';

const later = () => new Promise((resolve) => setTimeout(resolve, 5));

test('work under one key runs in call order, also after a failure', async () => {
  const turns = new KeyedMutex();
  const seen: string[] = [];
  const work = (name: string) => async () => {
    seen.push(`${name} starts`);
    await later();
    seen.push(`${name} ends`);
    if (name === 'b') throw new Error('b fails');
    return name;
  };
  const results = await Promise.allSettled(['a', 'b', 'c'].map((name) => turns.runExclusive('x', work(name))));
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(seen).toEqual(['a starts', 'a ends', 'b starts', 'b ends', 'c starts', 'c ends']);
});

test('work under different keys runs concurrently', async () => {
  const turns = new KeyedMutex();
  const never = turns.runExclusive('x', () => new Promise(() => {}));
  await expect(turns.runExclusive('y', async () => 'done')).resolves.toBe('done');
  expect(never).toBeInstanceOf(Promise);
});
