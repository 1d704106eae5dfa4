import { expect, test } from 'vitest';
import { childNode, START_NODE } from '../walk/dir-cache.ts';
import { OrderedSearch } from './ordered-search.ts';
import type { PooledSearch } from './search-pool.ts';
import type { WorkResult, WorkUnit } from './work-unit.ts';

const folder = (name: string): WorkUnit => ({ kind: 'folder', node: childNode(START_NODE, name) });
const found = (text: string): WorkResult<string> => ({ kind: 'found', found: text });

/** Tasks that the test answers itself, each named after its first folder. */
class ByHand {
  readonly tasks = new Map<string, (results: WorkResult<string>[]) => void>();
  calls = false;
  readonly stopped = false;
  readonly abandoned = new Promise<void>(() => {});

  run(units: readonly WorkUnit[]): Promise<WorkResult<string>[]> {
    const [first] = units;
    return new Promise((resolve) => this.tasks.set(first?.kind === 'folder' ? first.node.path : '', resolve));
  }

  stop(): void {}

  requestSteal(calls: boolean): void {
    this.calls = calls;
  }

  async answer(task: string, results: WorkResult<string>[]): Promise<void> {
    this.tasks.get(task)?.(results);
    this.tasks.delete(task);
    await new Promise(setImmediate);
  }
}

test('requests a steal while a worker has no next task, but not during the first task', async () => {
  const search = new ByHand();
  const taken: string[] = [];
  const ordered = new OrderedSearch(search as unknown as PooledSearch<string>, {
    workers: 2,
    maxBufferedWeight: 100,
    weigh: () => 1,
    take: (text) => taken.push(text) > 0,
  });
  const outcome = ordered.run();
  expect([...search.tasks.keys(), search.calls]).toEqual(['', false]);

  await search.answer('', ['a', 'b', 'c', 'd'].map(folder));
  expect([...search.tasks.keys(), search.calls]).toEqual(['a', 'b', 'c', 'd', false]);

  await search.answer('b', [found('b')]);
  expect(search.calls).toBe(false);
  await search.answer('c', [found('c')]);
  expect([...search.tasks.keys(), search.calls]).toEqual(['a', 'd', true]);

  await search.answer('a', [found('a'), folder('a/x'), folder('a/y')]);
  expect([...search.tasks.keys(), search.calls]).toEqual(['d', 'a/x', 'a/y', false]);

  await search.answer('d', [found('d')]);
  await search.answer('a/y', [found('y')]);
  await search.answer('a/x', [found('x')]);
  expect(await outcome).toBe('complete');
  expect(taken).toEqual(['a', 'x', 'y', 'b', 'c', 'd']);
});
