import { expect, test } from 'vitest';
import { childNode, START_NODE } from '../walk/dir-cache.ts';
import { WorkQueue } from './work-queue.ts';
import type { WorkResult, WorkUnit } from './work-unit.ts';

const folder = (name: string): WorkUnit => ({ kind: 'folder', node: childNode(START_NODE, name) });
const found = (text: string): WorkResult<string> => ({ kind: 'found', found: text });
const take = (queue: WorkQueue<string>, { atFront = false, takers = 1 } = {}) =>
  queue.take({ bytes: 100, atFront, takers });

function drain(queue: WorkQueue<string>): string[] {
  const all: string[] = [];
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) all.push(next);
  return all;
}

/** Returns a queue whose start unit turned into these results. */
function queueOf(results: WorkResult<string>[]): WorkQueue<string> {
  const queue = new WorkQueue<string>();
  queue.replace(take(queue), results);
  return queue;
}

test('results leave in path order, whichever unit finishes first', () => {
  const queue = queueOf([found('a'), folder('b'), found('c'), folder('d'), found('e')]);
  expect(drain(queue)).toEqual(['a']);
  const [b, d] = [take(queue), take(queue)];
  queue.replace(d, [found('d1'), found('d2')]);
  expect(drain(queue)).toEqual([]);
  queue.replace(b, [found('b1'), folder('b2'), found('b3')]);
  expect(drain(queue)).toEqual(['b1']);
  expect(queue.buffered).toBeGreaterThan(0);
  queue.replace(take(queue), []);
  expect(drain(queue)).toEqual(['b3', 'c', 'd1', 'd2', 'e']);
  expect(queue.isEmpty).toBe(true);
});

test('adjacent units are taken together up to a limit, and none twice', () => {
  const names = Array.from({ length: 40 }, (_, i) => `f${i}`);
  const queue = queueOf(names.map(folder));
  const sizes = [];
  for (let taken = take(queue); taken.length > 0; taken = take(queue)) sizes.push(taken.length);
  expect(sizes).toEqual([16, 16, 8]);
  expect(queue.untaken).toBe(0);
});

test('remaining units are shared among the takers', () => {
  const queue = queueOf(['a', 'b', 'c', 'd', 'e'].map(folder));
  expect([3, 2, 1].map((takers) => take(queue, { takers }).length)).toEqual([2, 2, 1]);
});

test('the files of one folder are split among takers, and their results leave in order', () => {
  const queue = queueOf([{ kind: 'files', node: START_NODE, names: 'a/b/c/d/e/f/g' }, folder('h')]);
  const taken = [4, 3, 2, 1].map((takers) => take(queue, { takers }));
  const names = taken.flat().map(({ unit }) => (unit?.kind === 'files' ? unit.names : unit?.kind));
  expect(names).toEqual(['a/b', 'c/d', 'e/f/g', 'folder']);
  for (const [i, part] of [...taken.entries()].reverse()) queue.replace(part, [found(`part ${i}`)]);
  expect(drain(queue)).toEqual(['part 0', 'part 1', 'part 2', 'part 3']);
});

test('atFront takes nothing behind an unfinished unit', () => {
  const queue = queueOf([folder('a'), found('b'), folder('c')]);
  const a = take(queue, { atFront: true });
  expect(take(queue, { atFront: true })).toEqual([]);
  queue.replace(a, []);
  expect(drain(queue)).toEqual(['b']);
  expect(take(queue, { atFront: true })).toHaveLength(1);
});

test('a large file is split when taken, and its results leave in order', () => {
  const range = { from: 0, to: 250, end: 250, identity: 'i' };
  const queue = queueOf([{ kind: 'lines', node: START_NODE, name: 'f', range }]);
  const parts = [take(queue), take(queue), take(queue)];
  expect(parts.map(([item]) => item?.unit?.kind === 'lines' && item.unit.range)).toEqual([
    { ...range, to: 100 },
    { ...range, from: 100, to: 200 },
    { ...range, from: 200 },
  ]);
  expect(take(queue)).toEqual([]);
  for (const [i, part] of [...parts.entries()].reverse()) queue.replace(part, [found(`part ${i}`)]);
  expect(drain(queue)).toEqual(['part 0', 'part 1', 'part 2']);
});

test('a unit that waits for its turn is taken only at the front', () => {
  const turn: WorkUnit = { kind: 'files', node: START_NODE, names: 'w', inTurn: true };
  const queue = queueOf([folder('a'), turn, folder('b')]);
  expect(drain(queue)).toEqual([]);
  const a = take(queue);
  expect(a).toHaveLength(1);
  expect(take(queue, { atFront: true })).toEqual([]);
  const b = take(queue);
  expect(b.map(({ unit }) => unit?.kind)).toEqual(['folder']);
  expect(take(queue)).toEqual([]);
  queue.replace(b, [found('b')]);
  queue.replace(a, [found('a')]);
  expect(drain(queue)).toEqual(['a']);
  const waiting = take(queue);
  expect(waiting.map(({ unit }) => unit?.kind)).toEqual(['files']);
  expect(queue.isFirst(waiting[0])).toBe(true);
  queue.replace(waiting, [found('w')]);
  expect(drain(queue)).toEqual(['w', 'b']);
});

test('an unfinished mark is neither taken nor passed', () => {
  const queue = queueOf([found('a'), { kind: 'unfinished' }, found('b')]);
  expect(take(queue)).toEqual([]);
  expect(drain(queue)).toEqual(['a']);
  expect(queue.isEmpty).toBe(false);
});
