import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseCallerPath, Root } from '../../fence/index.ts';
import { childNode, DirCache, type DirNode, START_NODE } from './dir-cache.ts';

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

test('walks a deep tree with few descriptors and closes all of them', () => {
  const nodes: DirNode[] = [START_NODE];
  let at = path.join(top, 'deep');
  fs.mkdirSync(at);
  let node = childNode(START_NODE, 'deep');
  for (let i = 0; i < 100; i += 1) {
    at = path.join(at, `d${i}`);
    fs.mkdirSync(at);
    node = childNode(node, `d${i}`);
    nodes.push(node);
  }
  const before = openDescriptors();
  {
    using dirs = new DirCache(() => root.openDir(parseCallerPath('.')));
    for (const [i, next] of nodes.entries()) {
      const names = dirs
        .open(next)
        .list()
        .map((entry) => entry.name);
      expect(names).toEqual(i === nodes.length - 1 ? [] : [i === 0 ? 'deep' : `d${i}`]);
    }
    for (const next of nodes.toReversed()) dirs.open(next).list();
    expect(openDescriptors() - before).toBeLessThan(20);
  }
  expect(openDescriptors()).toBe(before);
});

test('does not follow a symbolic link', () => {
  fs.mkdirSync(path.join(top, 'real'));
  fs.symlinkSync('real', path.join(top, 'link'));
  using dirs = new DirCache(() => root.openDir(parseCallerPath('.')));
  expect(() => dirs.open(childNode(START_NODE, 'link'))).toThrow(expect.objectContaining({ name: 'FenceError' }));
  expect(dirs.open(childNode(START_NODE, 'real')).list()).toEqual([]);
});
