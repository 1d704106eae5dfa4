import fs from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { Sandbox } from '../fence/sandbox.fixture.ts';
import { History } from './history.ts';
import { pastSteps } from './log/past-steps.ts';
import type { Step } from './log/step.ts';
import { isAbout } from './log/step.ts';
import { fillHistory, pathOfStep, STEPS_PER_FILE } from './long-history.fixture.ts';

const STEPS = 50_000;

let changes = 0;
const stepAbout = (path: string, more: Partial<Step> = {}): Step => ({
  change: `c${changes++}`,
  number: 0,
  time: Date.now(),
  caller: { tool: 'test' },
  process: 'gone',
  kind: 'put',
  path,
  ...more,
});

const keysOf = (history: History, path?: string) => [...pastSteps(history, { path })].map(({ key }) => key);

describe('the history of a path', () => {
  test('is the same as all history without the rest, however it is divided into segments', () => {
    using box = new Sandbox('openat2');
    using history = History.open(box.root);
    const { log } = history;
    const odd = 'odd "path":"x\\\n\u00fc\udcff';
    const paths = ['a', 'ab', 'a/b', 'a/b/c', 'a b/c', `d/${odd}`, 'd/ü', odd, 'path', 'to'];
    const moves = [
      ['a/x', 'e/f/g'],
      ['e/f', 'a/b'],
      [odd, 'z'],
    ] as const;
    for (let round = 0; round < 40; round += 1) {
      for (const path of paths) {
        if ((round + path.length) % 3 === 0) continue;
        const step = stepAbout(path);
        log.append(step);
        if (round % 5 === 1) log.mark({ cancelled: `${step.change}.0` });
        else if (round % 5 !== 2) log.mark({ done: `${step.change}.0` });
        if (round % 7 === path.length % 7) log.rotate();
      }
      const [path, to] = moves[round % moves.length] as (typeof moves)[number];
      log.append(stepAbout(path, { kind: 'move', to }));
    }
    log.writeMarks();
    const all = [...pastSteps(history)];
    expect(log.segments().length).toBeGreaterThan(20);
    for (const path of [...paths, 'e', 'e/f', 'd', 'none', 'a/b/', 'c']) {
      const expected = all.filter(({ step }) => isAbout(step, path));
      // Once when the indexes are made, and once with them.
      expect([...pastSteps(history, { path })]).toEqual(expected);
      expect([...pastSteps(history, { path })]).toEqual(expected);
    }
    expect(keysOf(history, 'a').length).toBeGreaterThan(20);
    expect(keysOf(history, 'e/f').length).toBeGreaterThan(10);
  });

  test('has marks that came segments later, and records that were appended after the index was made', () => {
    using box = new Sandbox('openat2');
    using history = History.open(box.root);
    using other = History.open(box.root);
    const { log } = history;
    const folder = { type: 'directory', ino: 1, mode: 0o755, size: 0, mtimeMs: 1, ctimeMs: 1 } as const;
    const [first, second] = [
      stepAbout('x/1'),
      stepAbout('x/2', { kind: 'remove', before: folder, kept: '00000001/a-0' }),
    ];
    log.append(first);
    log.append(second);
    // The other process still has the first segment open.
    other.log.current();
    log.rotate();
    log.append(stepAbout('y'));
    log.mark({ done: `${first.change}.0` });
    log.writeMarks();
    log.rotate();
    log.append(stepAbout('y'));
    log.rotate();
    expect([...pastSteps(history, { path: 'x' })].map(({ done }) => done !== undefined)).toEqual([false, true]);
    const late = stepAbout('x/3');
    other.log.append(late);
    log.append(stepAbout('y'));
    log.mark({ counted: `${second.change}.0`, bytes: 5, files: 2 });
    log.mark({ done: `${second.change}.0` });
    log.mark({ cancelled: `${late.change}.0` });
    const found = [...pastSteps(history, { path: 'x' })];
    expect(found.map(({ key, cancelled }) => [key, cancelled])).toEqual([
      [`${late.change}.0`, true],
      [`${second.change}.0`, false],
      [`${first.change}.0`, false],
    ]);
    expect(found.slice(1).every(({ done }) => done !== undefined)).toBe(true);
    expect(found[1]?.counted).toMatchObject({ bytes: 5, files: 2 });
  });

  test('an index that is damaged, cut off or planted is made again', () => {
    using box = new Sandbox('openat2');
    using history = History.open(box.root);
    history.log.append(stepAbout('a/b'));
    history.log.rotate();
    const index = box.host('.ringfence/log/00000001.paths');
    expect(keysOf(history, 'a')).toHaveLength(1);
    const whole = fs.readFileSync(index);
    const damaged = Buffer.from(whole);
    damaged[whole.length - 1] = (damaged.at(-1) ?? 0) ^ 1;
    for (const bytes of [
      Buffer.alloc(0),
      whole.subarray(0, -4),
      damaged,
      Buffer.alloc(whole.length),
      Buffer.from('\n\n'),
    ]) {
      fs.writeFileSync(index, bytes);
      expect(keysOf(history, 'a')).toHaveLength(1);
      expect(fs.readFileSync(index)).toEqual(whole);
    }
    fs.rmSync(index);
    fs.symlinkSync(box.host('../outside/secret'), index);
    expect(keysOf(history, 'a')).toHaveLength(1);
    expect(fs.readFileSync(`${box.outside}/secret`, 'utf8')).toBe('secret');
    expect(fs.readFileSync(index)).toEqual(whole);
  });

  test('reads only the segments that have something about it', () => {
    using box = new Sandbox('openat2');
    using history = History.open(box.root);
    const { log } = history;
    fillHistory(history, { steps: STEPS });
    expect(log.segments().length).toBeGreaterThan(5);
    const path = pathOfStep(STEPS / 2);
    expect(keysOf(history, path)).toHaveLength(STEPS_PER_FILE);
    const reads = vi.spyOn(log, 'readBytes');
    expect(keysOf(history, path)).toHaveLength(STEPS_PER_FILE);
    expect(reads.mock.calls.length).toBeLessThanOrEqual(3);
    expect(keysOf(history, 'none')).toEqual([]);
    expect(keysOf(history, 'folder-7/part-0')).toHaveLength(2 * STEPS_PER_FILE);
  });
});

test('begins a segment when the last is full, old, or keeps much', () => {
  using box = new Sandbox('openat2');
  using history = History.open(box.root, { maxBytes: 1600, keepMs: 16_000, over: 'allow' });
  const { log } = history;
  const add = (size: number) => {
    const segment = log.current(size);
    log.append(stepAbout('f'));
    return segment;
  };
  expect([60, 40, 1, 5000, 1, 99, 1].map(add)).toEqual([1, 1, 2, 3, 4, 4, 5]);
  expect(add(0)).toBe(5);
  vi.useFakeTimers({ now: Date.now() + 1100, toFake: ['Date'] });
  try {
    expect([0, 0].map(add)).toEqual([6, 6]);
    using other = History.open(box.root, { maxBytes: 1600, keepMs: 16_000, over: 'allow' });
    expect(other.log.current()).toBe(6);
    vi.setSystemTime(Date.now() + 1100);
    expect(other.log.current()).toBe(7);
    // Nobody has to write for others to notice.
    expect(log.current()).toBe(7);
  } finally {
    vi.useRealTimers();
  }
});

test('a process notices at once that another has begun a new segment, so that steps stay in order', () => {
  using box = new Sandbox('openat2');
  using one = History.open(box.root);
  using other = History.open(box.root);
  one.log.append(stepAbout('f'));
  other.log.rotate();
  other.log.append(stepAbout('f'));
  expect([one.log.current(), other.log.current()]).toEqual([2, 2]);
});
