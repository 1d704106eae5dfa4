import { expect, test } from 'vitest';
import { chooseBackend, ROOT_PATH } from '../../fence/index.ts';
import { Sandbox } from '../../fence/sandbox.fixture.ts';
import { DirCache, START_NODE } from './dir-cache.ts';
import { IgnoreRules } from './ignore-rules.ts';
import { walkTree } from './walk-tree.ts';

/**
 * Walks a folder of 100 files with these rules and returns what that costs, how many entries it visits and how often it
 * pauses.
 */
function walked(rules: string, isStopped = (): boolean => false, name = 'f') {
  using box = new Sandbox(chooseBackend().name);
  box.file('.gitignore', rules);
  for (let i = 0; i < 99; i += 1) box.file(`${name}${i}`, '');
  using dirs = new DirCache(() => box.root.openDir(ROOT_PATH));
  let cost = 0;
  const budget = {
    isSpent: () => false,
    spend: (micros: number) => {
      cost += micros;
    },
  };
  const visits = walkTree(START_NODE, {
    ...{ dirs, budget, types: new Set(['file'] as const), maxDepth: 9, skipHidden: false },
    ...{ enters: () => true, skipped: () => {}, rules: new IgnoreRules(box.root, ROOT_PATH), isStopped },
  });
  const entries = [...visits].map((visit) => visit.entries?.length ?? 0);
  const visited = entries.reduce((sum, length) => sum + length, 0);
  return { cost, visited, pauses: entries.filter((length) => length === 0).length };
}

test('the budget is charged for the ignore rules that entries are compared with', () => {
  const { cost: free } = walked('');
  const lines = (line: (index: number) => string): string =>
    Array.from({ length: 1_000 }, (_, i) => line(i)).join('\n');
  expect(walked(lines((i) => `name${i}/`)).cost).toBe(free);
  expect(walked(lines((i) => `# *.${i}`)).cost).toBe(free);
  const globs = walked(lines((i) => `*.${i}`)).cost - free;
  expect(globs).toBeGreaterThan(1_000);
  expect(walked(lines((i) => `a/${i}`)).cost - free).toBeCloseTo(globs);
  expect(walked(lines((i) => `{a,b}*.${i}`)).cost - free).toBeCloseTo(2 * globs);
});

test('a folder with ignore rules is given up when the search is stopped', () => {
  let left = 10;
  expect(walked('*.x', () => left-- === 0)).toMatchObject({ visited: 10 });
  expect(walked('*.x')).toMatchObject({ visited: 100 });
});

test('comparing entries with many ignore rules lets others run', () => {
  // Each rule takes as many steps as a long name allows.
  const hostile = `*${'?'.repeat(120)}b*\n`.repeat(400);
  expect(walked(hostile, undefined, 'a'.repeat(200))).toMatchObject({
    visited: 100,
    pauses: expect.toSatisfy((n) => n > 10),
  });
  expect(walked('*.x\nbuild/\n')).toMatchObject({ visited: 100, pauses: 0 });
});
