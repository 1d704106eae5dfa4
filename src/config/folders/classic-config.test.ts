import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { CAPABILITIES } from '../../tools/capabilities.ts';
import { ConfigError } from '../config-error.ts';
import { type ClassicFlags, classicConfig } from './classic-config.ts';

const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'ringfence-classic-config-'));
afterAll(() => fs.rmSync(dir, { recursive: true }));
const [byFlag, byVariable] = ['flag', 'variable'].map((name) => path.join(dir, name)) as [string, string];
fs.mkdirSync(byFlag);
fs.mkdirSync(byVariable);
fs.writeFileSync(path.join(dir, 'file.txt'), '');

const FLAGS: ClassicFlags = { rootDir: byFlag, maxFileSize: '11', requestTimeout: '1.5', logLevel: 'debug' };
const VARIABLES = {
  FS_SERVER_ROOT: byVariable,
  FS_MAX_FILE_SIZE: '22',
  FS_REQUEST_TIMEOUT: '2',
  FS_LOG_LEVEL: 'error',
};

const settings = (flags: ClassicFlags, env: NodeJS.ProcessEnv = {}) => {
  const { roots, maxFullReadSize, requestTimeout, logLevel } = classicConfig(flags, env);
  return [roots[0]?.path, maxFullReadSize, requestTimeout, logLevel];
};

describe('filesystem-server/config: flag over environment over default', () => {
  const fromFlags = [byFlag, 11, 1.5, 'debug'];
  const fromVariables = [byVariable, 22, 2, 'error'];
  const defaults = [process.cwd(), 10_485_760, 30, 'info'];

  test('nothing given: the current directory and the defaults', () => {
    expect(settings({})).toEqual(defaults);
  });

  test('variables alone, flags alone, both', () => {
    expect(settings({}, VARIABLES)).toEqual(fromVariables);
    expect(settings(FLAGS)).toEqual(fromFlags);
    expect(settings(FLAGS, VARIABLES)).toEqual(fromFlags);
  });

  test('each setting independently', () => {
    for (const [index, flag] of (['rootDir', 'maxFileSize', 'requestTimeout', 'logLevel'] as const).entries()) {
      const mixed = fromVariables.map((value, at) => (at === index ? fromFlags[at] : value));
      expect(settings({ [flag]: FLAGS[flag] }, VARIABLES)).toEqual(mixed);
    }
  });

  test('an empty variable counts as unset', () => {
    const empty = { FS_SERVER_ROOT: '', FS_MAX_FILE_SIZE: '', FS_REQUEST_TIMEOUT: '', FS_LOG_LEVEL: '' };
    expect(settings({}, empty)).toEqual(defaults);
  });

  test('an invalid variable is ignored if its flag is given', () => {
    expect(settings(FLAGS, { FS_SERVER_ROOT: '/nonexistent', FS_MAX_FILE_SIZE: 'x' })).toEqual(fromFlags);
  });
});

test('one root with all tools, and the classic dialect on it', () => {
  const config = classicConfig({ rootDir: byFlag }, {});
  expect(config.roots).toEqual([{ name: 'root', path: byFlag, allowed: CAPABILITIES, origin: '--root-dir' }]);
  expect(config.dialects).toEqual([{ name: 'classic', root: 'root' }]);
});

test('a relative root is relative to the current directory', () => {
  expect(classicConfig({ rootDir: 'src' }, {}).roots[0]?.path).toBe(path.resolve('src'));
});

test('log levels may be in capitals, and a size above the maximum is reduced to it', () => {
  expect(classicConfig({ rootDir: byFlag, logLevel: 'WARN' }, {}).logLevel).toBe('warn');
  expect(classicConfig({ rootDir: byFlag, maxFileSize: '10737418240' }, {}).maxFullReadSize).toBe(64 * 1024 * 1024);
});

describe('filesystem-server/config: an invalid value is reported with its flag or variable', () => {
  const BYTES = 'must be a whole number of bytes above 0';
  const SECONDS = 'must be a number of seconds above 0 and at most 86400';
  const LEVELS = 'must be one of error, warn, info, debug, trace';
  test.each([
    [{ maxFileSize: 'ten' }, {}, `--max-file-size: ${BYTES}, got "ten"`],
    [{ maxFileSize: '0' }, {}, `--max-file-size: ${BYTES}, got "0"`],
    [{ maxFileSize: '-1' }, {}, `--max-file-size: ${BYTES}, got "-1"`],
    [{ maxFileSize: '1.5' }, {}, `--max-file-size: ${BYTES}, got "1.5"`],
    [{ maxFileSize: '10MB' }, {}, `--max-file-size: ${BYTES}, got "10MB"`],
    [{ maxFileSize: '' }, {}, `--max-file-size: ${BYTES}, got ""`],
    [{}, { FS_MAX_FILE_SIZE: '1e3' }, `FS_MAX_FILE_SIZE: ${BYTES}, got "1e3"`],
    [{ requestTimeout: '0' }, {}, `--request-timeout: ${SECONDS}, got "0"`],
    [{ requestTimeout: '86401' }, {}, `--request-timeout: ${SECONDS}, got "86401"`],
    [{ requestTimeout: 'Infinity' }, {}, `--request-timeout: ${SECONDS}, got "Infinity"`],
    [{}, { FS_REQUEST_TIMEOUT: '30s' }, `FS_REQUEST_TIMEOUT: ${SECONDS}, got "30s"`],
    [{ logLevel: 'loud' }, {}, `--log-level: ${LEVELS}, got "loud"`],
    [{ logLevel: '' }, {}, `--log-level: ${LEVELS}, got ""`],
    [{}, { FS_LOG_LEVEL: 'silent' }, `FS_LOG_LEVEL: ${LEVELS}, got "silent"`],
    [{ rootDir: path.join(dir, 'none') }, {}, `--root-dir: the folder ${dir}/none does not exist`],
    [{ rootDir: path.join(dir, 'file.txt') }, {}, `--root-dir: ${dir}/file.txt is not a folder`],
    [{ rootDir: '' }, {}, '--root-dir: must be the path of a folder, got an empty one'],
    [{}, { FS_SERVER_ROOT: path.join(dir, 'none') }, `FS_SERVER_ROOT: the folder ${dir}/none does not exist`],
  ])('%j %j', (flags, env, problem) => {
    const attempt = () => classicConfig(flags, env);
    expect(attempt).toThrow(ConfigError);
    expect(attempt).toThrow(problem);
  });
});
