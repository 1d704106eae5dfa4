import { expect, test } from 'vitest';
import { Turns } from './keyed-mutex.ts';

const later = () => new Promise((resolve) => setTimeout(resolve, 5));

test('work on one thing happens in the order of asking, also after a failure', async () => {
  const turns = new Turns();
  const seen: string[] = [];
  const work = (name: string) => async () => {
    seen.push(`${name} starts`);
    await later();
    seen.push(`${name} ends`);
    if (name === 'b') throw new Error('b fails');
    return name;
  };
  const results = await Promise.allSettled(['a', 'b', 'c'].map((name) => turns.take('x', work(name))));
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(seen).toEqual(['a starts', 'a ends', 'b starts', 'b ends', 'c starts', 'c ends']);
});

test('different things do not wait for each other', async () => {
  const turns = new Turns();
  const never = turns.take('x', () => new Promise(() => {}));
  await expect(turns.take('y', async () => 'done')).resolves.toBe('done');
  expect(never).toBeInstanceOf(Promise);
});
