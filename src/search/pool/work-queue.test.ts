import { expect, test } from 'vitest';
import { childNode, START_NODE } from '../walk/dir-cache.ts';
import { WorkQueue } from './work-queue.ts';
import type { WorkResult, WorkUnit } from './work-unit.ts';

const folder = (name: string): WorkUnit => ({ kind: 'folder', node: childNode(START_NODE, name) });
const found = (text: string): WorkResult<string> => ({ kind: 'found', found: text });
const take = (agenda: WorkQueue<string>, { atFront = false, takers = 1 } = {}) =>
  agenda.take({ bytes: 100, atFront, takers });

function drain(agenda: WorkQueue<string>): string[] {
  const all: string[] = [];
  for (let next = agenda.shift(); next !== undefined; next = agenda.shift()) all.push(next);
  return all;
}

/** An agenda whose start turned into these. */
function agendaOf(results: WorkResult<string>[]): WorkQueue<string> {
  const agenda = new WorkQueue<string>();
  agenda.replace(take(agenda), results);
  return agenda;
}

test('what is found comes out in order, whatever is done first', () => {
  const agenda = agendaOf([found('a'), folder('b'), found('c'), folder('d'), found('e')]);
  expect(drain(agenda)).toEqual(['a']);
  const [b, d] = [take(agenda), take(agenda)];
  agenda.replace(d, [found('d1'), found('d2')]);
  expect(drain(agenda)).toEqual([]);
  agenda.replace(b, [found('b1'), folder('b2'), found('b3')]);
  expect(drain(agenda)).toEqual(['b1']);
  expect(agenda.buffered).toBeGreaterThan(0);
  agenda.replace(take(agenda), []);
  expect(drain(agenda)).toEqual(['b3', 'c', 'd1', 'd2', 'e']);
  expect(agenda.isEmpty).toBe(true);
});

test('neighbours are taken together up to a limit, and none twice', () => {
  const names = Array.from({ length: 40 }, (_, i) => `f${i}`);
  const agenda = agendaOf(names.map(folder));
  const sizes = [];
  for (let taken = take(agenda); taken.length > 0; taken = take(agenda)) sizes.push(taken.length);
  expect(sizes).toEqual([16, 16, 8]);
  expect(agenda.untaken).toBe(0);
});

test('what is left is shared among those who could do it', () => {
  const agenda = agendaOf(['a', 'b', 'c', 'd', 'e'].map(folder));
  expect([3, 2, 1].map((takers) => take(agenda, { takers }).length)).toEqual([2, 2, 1]);
});

test('the files of one folder are shared too, and what they turn into comes out in order', () => {
  const agenda = agendaOf([{ kind: 'files', node: START_NODE, names: 'a/b/c/d/e/f/g' }, folder('h')]);
  const taken = [4, 3, 2, 1].map((takers) => take(agenda, { takers }));
  const names = taken.flat().map(({ unit }) => (unit?.kind === 'files' ? unit.names : unit?.kind));
  expect(names).toEqual(['a/b', 'c/d', 'e/f/g', 'folder']);
  for (const [i, part] of [...taken.entries()].reverse()) agenda.replace(part, [found(`part ${i}`)]);
  expect(drain(agenda)).toEqual(['part 0', 'part 1', 'part 2', 'part 3']);
});

test('nothing is taken from behind what is open if only the front is asked for', () => {
  const agenda = agendaOf([folder('a'), found('b'), folder('c')]);
  const a = take(agenda, { atFront: true });
  expect(take(agenda, { atFront: true })).toEqual([]);
  agenda.replace(a, []);
  expect(drain(agenda)).toEqual(['b']);
  expect(take(agenda, { atFront: true })).toHaveLength(1);
});

test('a large file is cut when it is taken, and comes out in order', () => {
  const range = { from: 0, to: 250, end: 250, identity: 'i' };
  const agenda = agendaOf([{ kind: 'lines', node: START_NODE, name: 'f', range }]);
  const parts = [take(agenda), take(agenda), take(agenda)];
  expect(parts.map(([item]) => item?.unit?.kind === 'lines' && item.unit.range)).toEqual([
    { ...range, to: 100 },
    { ...range, from: 100, to: 200 },
    { ...range, from: 200 },
  ]);
  expect(take(agenda)).toEqual([]);
  for (const [i, part] of [...parts.entries()].reverse()) agenda.replace(part, [found(`part ${i}`)]);
  expect(drain(agenda)).toEqual(['part 0', 'part 1', 'part 2']);
});

test('what is unfinished is neither taken nor passed', () => {
  const agenda = agendaOf([found('a'), { kind: 'unfinished' }, found('b')]);
  expect(take(agenda)).toEqual([]);
  expect(drain(agenda)).toEqual(['a']);
  expect(agenda.isEmpty).toBe(false);
});
