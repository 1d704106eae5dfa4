import { expect, test, vi } from 'vitest';
import { historyOf, isAbout } from '../history/index.ts';
import { PastBox } from './past-box.fixture.ts';
import { type PastChange, pastChanges, selectChanges } from './past-change.ts';

/** What the changes did at a path, found by reading everything. */
function expected(box: PastBox, path: string): unknown[] {
  return [...pastChanges(box.history)].flatMap((change) => {
    const steps = change.steps.filter(({ step }) => isAbout(step, path));
    return steps.length === 0 ? [] : [facts({ ...change, steps })];
  });
}

const facts = ({ id, caller, steps }: PastChange) => ({
  id,
  caller,
  steps: steps.map(({ key, undone, done }) => ({ key, undone, done })),
});

const found = (box: PastBox, path: string) => [...pastChanges(box.history, { path })].map(facts);

test('the changes of a path are found without those of others, with what was undone', async () => {
  using box = new PastBox('openat2');
  const { log } = box.history;
  for (let round = 0; round < 6; round += 1) {
    await box.write(`a/b/f${round % 2}`, `${round}`);
    await box.write('g', `${round}`);
    if (round % 2 === 0) log.rotate();
    await box.append('a/b/f0', 'more');
    await box.copy('a', `c${round}`);
  }
  await box.move('a/b', 'a/d');
  await box.remove('c3');
  log.rotate();
  await box.undo({ ids: box.changes.slice(-1) });
  await box.undo({ ids: box.changes.slice(-3, -2) });
  for (const path of ['a', 'a/b', 'a/b/f0', 'a/d', 'c3', 'g', 'none'])
    expect(found(box, path)).toEqual(expected(box, path));
  expect(found(box, 'a/b/f0').length).toBeGreaterThan(5);
  expect(found(box, 'c3').some(({ steps }) => steps.some(({ undone }) => undone))).toBe(true);
  const reads = vi.spyOn(log, 'readBytes');
  found(box, 'none');
  expect(reads).toHaveBeenCalledTimes(1);
});

test('a step that a killed process left open is settled although a folder above was moved since', async () => {
  using box = new PastBox('openat2');
  await box.write('a/f', 'one');
  const mark = vi.spyOn(box.history.log, 'mark').mockImplementation(() => {});
  await box.write('a/f', 'two');
  historyOf(box.root)?.changeOf(undefined).begin({ kind: 'make', path: 'a/never' });
  mark.mockRestore();
  await box.write('a/f', 'three');
  await box.move('a', 'moved');
  expect(found(box, 'a/f')).toHaveLength(3);
  expect(found(box, 'a/f')).toEqual(expected(box, 'a/f'));
  expect(found(box, 'a/never')).toEqual([]);
});

test('a filter with a path stops where one without does', async () => {
  using box = new PastBox('openat2');
  for (const name of ['f', 'g', 'f', 'g', 'f']) {
    await box.write(name, name);
    await new Promise((resolve) => setTimeout(resolve, 3));
  }
  const { changes } = box;
  for (const sinceChange of changes) {
    const since = selectChanges(box.history, { sinceChange }).filter(({ steps }) => steps[0]?.step.path === 'f');
    expect(selectChanges(box.history, { sinceChange, path: 'f' })).toEqual(since);
  }
  expect(selectChanges(box.history, { path: '' })).toHaveLength(5);
  expect(selectChanges(box.history, { path: 'f', limit: 2 }).map(({ id }) => id)).toEqual([changes[4], changes[2]]);
});
