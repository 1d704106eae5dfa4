import { expect, test } from 'vitest';
import { Sandbox } from '../../src/fence/sandbox.fixture.ts';
import { History } from '../../src/history/history.ts';
import { historyStatistics } from '../../src/history/limits/statistics.ts';
import { fillHistory, pathOfStep, STEPS_PER_FILE } from '../../src/history/long-history.fixture.ts';
import { runChild } from '../support/child.ts';
import { recordFigure } from '../support/figures.ts';

const STEPS = 1_000_000;
const RUNS = 7;
/** What a long history may take longer than an empty one. */
const MAX_DIFFERENCE_MS = 50;

interface Measured {
  readonly found: number;
  readonly openMs: number;
  readonly firstChangeMs: number;
  readonly searchMs: number;
  readonly descriptors: number;
  readonly megabytes: number;
}

/** Opens a history in a new process, begins a change, and reads the history of a path. */
const MEASURE = `
const { History } = await from('history/index.js');
const { selectChanges } = await from('undo/index.js');
const { readdirSync } = await import('node:fs');
const timed = (work) => { const start = performance.now(); work(); return performance.now() - start; };
let history, found = 0;
const openMs = timed(() => { history = History.open(root); });
const descriptors = readdirSync('/proc/self/fd').length;
const megabytes = process.memoryUsage().rss / 2 ** 20;
const searchMs = timed(() => { found = selectChanges(history, { path: args[0] }).length; });
const firstChangeMs = timed(() => history.changeOf(undefined).begin({ kind: 'make', path: 'new' }).cancel());
history[Symbol.dispose]();
answer({ found, openMs, firstChangeMs, searchMs, descriptors, megabytes });
`;

async function measure(folder: string, path: string): Promise<Measured> {
  const runs: Measured[] = [];
  for (let left = RUNS; left > 0; left -= 1) runs.push(await runChild<Measured>(MEASURE, { folder, args: [path] }));
  const median = (field: keyof Measured) => runs.map((run) => run[field]).sort((a, b) => a - b)[RUNS >> 1] as number;
  return {
    found: median('found'),
    openMs: median('openMs'),
    firstChangeMs: median('firstChangeMs'),
    searchMs: median('searchMs'),
    descriptors: median('descriptors'),
    megabytes: median('megabytes'),
  };
}

test('a history of 1,000,000 changes is opened and searched as quickly as an empty one', async () => {
  using long = new Sandbox('openat2');
  using empty = new Sandbox('openat2');
  {
    using history = History.open(long.root);
    fillHistory(history, { steps: STEPS });
    recordFigure('segments of 1,000,000 changes', history.log.segments().length, 'segments');
  }
  const path = pathOfStep(STEPS / 3);
  const before = await measure(empty.inside, path);
  // The first one makes the index, which the server does in the background.
  const first = await runChild<Measured>(MEASURE, { folder: long.inside, args: [path] });
  recordFigure('history of a path without an index', first.searchMs, 'ms');
  const after = await measure(long.inside, path);
  for (const field of ['openMs', 'firstChangeMs', 'searchMs', 'descriptors', 'megabytes'] as const) {
    const unit = field.endsWith('Ms') ? 'ms' : field;
    recordFigure(`${field} of an empty history`, before[field], unit);
    recordFigure(`${field} of 1,000,000 changes`, after[field], unit);
  }
  {
    using history = History.open(long.root);
    const start = performance.now();
    expect(await historyStatistics(history)).toMatchObject({ steps: STEPS, changes: STEPS });
    recordFigure('statistics of 1,000,000 changes', performance.now() - start, 'ms');
  }
  expect(after.found).toBe(STEPS_PER_FILE);
  expect(after.descriptors).toBe(before.descriptors);
  expect(after.megabytes).toBeLessThan(before.megabytes + 5);
  expect(after.openMs).toBeLessThan(before.openMs + MAX_DIFFERENCE_MS);
  expect(after.firstChangeMs).toBeLessThan(before.firstChangeMs + MAX_DIFFERENCE_MS);
  expect(after.searchMs).toBeLessThan(before.searchMs + MAX_DIFFERENCE_MS);
});
