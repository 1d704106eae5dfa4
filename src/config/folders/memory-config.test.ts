import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { CAPABILITIES } from '../../tools/capabilities.ts';
import { ConfigError } from '../config-error.ts';
import { memoryConfig } from './memory-config.ts';

const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'ringfence-memory-config-'));
afterAll(() => fs.rmSync(dir, { recursive: true }));
fs.writeFileSync(path.join(dir, 'file.txt'), '');
fs.symlinkSync(path.join(dir, 'gone'), path.join(dir, 'dangling'));

test('BASE_PATH is the one root, with all tools', () => {
  const config = memoryConfig({ BASE_PATH: dir });
  expect(config.roots).toEqual([{ name: 'memory', path: dir, allowed: CAPABILITIES, origin: 'BASE_PATH' }]);
  expect(config.dialects).toEqual([{ name: 'memory', root: 'memory' }]);
  expect(config.durableWrites).toBe(true);
});

test('a missing folder and its parents are created, accessible to this user only', () => {
  const folder = path.join(dir, 'made', 'here');
  memoryConfig({ BASE_PATH: folder });
  expect(fs.statSync(folder).mode & 0o777).toBe(0o700);
});

test('an existing folder is not changed', () => {
  const folder = path.join(dir, 'kept');
  fs.mkdirSync(folder);
  fs.chmodSync(folder, 0o755);
  fs.writeFileSync(path.join(folder, 'note'), 'kept');
  memoryConfig({ BASE_PATH: folder });
  expect([fs.statSync(folder).mode & 0o777, fs.readdirSync(folder)]).toEqual([0o755, ['note']]);
});

test.each([
  ['nothing', undefined, 'not set; set it to the absolute path of the folder to keep files in'],
  ['an empty value', '', 'not set; set it to the absolute path of the folder to keep files in'],
  ['a relative path', 'notes', 'must be an absolute path, got "notes"'],
  ['a relative path with a dot', './notes', 'must be an absolute path, got "./notes"'],
  ['a path of the home folder', '~/notes', 'must be an absolute path, got "~/notes"'],
  ['a file', path.join(dir, 'file.txt'), `${dir}/file.txt is not a folder; a root has to be one`],
  ['a path below a file', path.join(dir, 'file.txt/x'), `the folder ${dir}/file.txt/x cannot be made: ENOTDIR`],
  ['a link to nothing', path.join(dir, 'dangling'), `the folder ${dir}/dangling`],
  ['a folder where none can be made', '/proc/none/x', 'the folder /proc/none/x cannot be made: ENOENT'],
  ['a device', '/dev/null', '/dev/null is not a folder; a root has to be one'],
])('%s is refused, and says what to do', (_, value, problem) => {
  const attempt = () => memoryConfig(value === undefined ? {} : { BASE_PATH: value });
  expect(attempt).toThrow(ConfigError);
  expect(attempt).toThrow(`BASE_PATH: ${problem}`);
  expect(fs.existsSync('notes')).toBe(false);
});
