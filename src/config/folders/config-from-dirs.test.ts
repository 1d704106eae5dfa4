import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { CAPABILITIES } from '../../tools/capabilities.ts';
import { configFromDirs } from './config-from-dirs.ts';

const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'ringfence-dirs-'));
afterAll(() => fs.rmSync(dir, { recursive: true }));
for (const name of ['one/src', 'two/src', 'odd\nname']) fs.mkdirSync(path.join(dir, name), { recursive: true });

test('a root for each folder, named after it, with all tools, bound to loopback', () => {
  const config = configFromDirs([path.join(dir, 'one'), `${dir}/two/`]);
  expect(config).toMatchObject({ file: undefined, host: '127.0.0.1', port: 8091 });
  expect(config.roots.map(({ name }) => name)).toEqual(['one', 'two']);
  expect(config.roots[0]?.allowed).toEqual(CAPABILITIES);
});

test('folders of the same name get numbered names', () => {
  const config = configFromDirs([`${dir}/one/src`, `${dir}/two/src`]);
  expect(config.roots.map(({ name }) => name)).toEqual(['src', 'src-2']);
});

test('the root of the filesystem has a name too', () => {
  expect(configFromDirs(['/']).roots[0]?.name).toBe('root');
});

test.each([
  ['nope', /the folder .*nope does not exist/],
  ['odd\nname', /cannot name a root; use --config/],
])('%j is refused', (name, message) => {
  expect(() => configFromDirs([path.join(dir, name)])).toThrow(message);
});

test('an empty path is refused', () => {
  expect(() => configFromDirs([''])).toThrow(/names no folder/);
});
