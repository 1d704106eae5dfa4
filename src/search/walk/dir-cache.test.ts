import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseCallerPath, Root } from '../../fence/index.ts';
import { type Place, placeIn, START, Trail } from './dir-cache.ts';

const top = fs.mkdtempSync(path.join(os.tmpdir(), 'trail-'));
let root: Root;

beforeAll(() => {
  root = Root.open('w', top);
});
afterAll(() => {
  root[Symbol.dispose]();
  fs.rmSync(top, { recursive: true });
});

const openDescriptors = () => fs.readdirSync('/proc/self/fd').length;

test('goes far down and back up with few descriptors, and closes them all', () => {
  const places: Place[] = [START];
  let at = path.join(top, 'deep');
  fs.mkdirSync(at);
  let place = placeIn(START, 'deep');
  for (let i = 0; i < 100; i += 1) {
    at = path.join(at, `d${i}`);
    fs.mkdirSync(at);
    place = placeIn(place, `d${i}`);
    places.push(place);
  }
  const before = openDescriptors();
  {
    using trail = new Trail(() => root.openDir(parseCallerPath('.')));
    for (const [i, next] of places.entries()) {
      const names = trail
        .enter(next)
        .list()
        .map((entry) => entry.name);
      expect(names).toEqual(i === places.length - 1 ? [] : [i === 0 ? 'deep' : `d${i}`]);
    }
    for (const next of places.toReversed()) trail.enter(next).list();
    expect(openDescriptors() - before).toBeLessThan(20);
  }
  expect(openDescriptors()).toBe(before);
});

test('does not go through a link', () => {
  fs.mkdirSync(path.join(top, 'real'));
  fs.symlinkSync('real', path.join(top, 'link'));
  using trail = new Trail(() => root.openDir(parseCallerPath('.')));
  expect(() => trail.enter(placeIn(START, 'link'))).toThrow(expect.objectContaining({ name: 'RingfenceError' }));
  expect(trail.enter(placeIn(START, 'real')).list()).toEqual([]);
});
