import os from 'node:os';
import { expect, test } from 'vitest';
import { expandPath } from './resolve-path.ts';

const fail = (problem: string): never => {
  throw new Error(problem);
};

test.each([
  ['~', '/home/a'],
  ['~/notes', '/home/a/notes'],
  ['~b/notes', '~b/notes'],
  ['a/~/b', 'a/~/b'],
  [`\${DATA}/x`, '/srv/$& data/x'],
  [`./\${DATA}-\${N}`, './/srv/$& data-1'],
  ['$DATA', '$DATA'],
])('%s becomes %s', (written, expanded) => {
  expect(expandPath(written, { HOME: '/home/a', DATA: '/srv/$& data', N: '1' }, fail)).toBe(expanded);
});

test('without HOME, the home folder is that of the user', () => {
  expect(expandPath('~/a', {}, fail)).toBe(`${os.homedir()}/a`);
});

test.each([[{}], [{ DATA: '' }]])('a variable that is not set fails, given %j', (env) => {
  expect(() => expandPath(`\${DATA}/x`, env, fail)).toThrow('the environment variable DATA is not set');
});
