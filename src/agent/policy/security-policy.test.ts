import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tempDir } from '../../../tests/support/server.ts';
import { SecurityError } from '../bridge-error.ts';
import { SecurityPolicy } from './security-policy.ts';

const projectRoot = tempDir();
beforeAll(() => {
  fs.mkdirSync(path.join(projectRoot, 'docs'));
  fs.symlinkSync('/etc', path.join(projectRoot, 'out'));
});
afterAll(() => fs.rmSync(projectRoot, { recursive: true }));

const absolute = (...names: string[]) => names.map((name) => path.join(projectRoot, name));

test('without configuration the usual folders are allowed, silently', () => {
  const policy = new SecurityPolicy({ projectRoot });
  expect(policy.allowedPaths).toEqual(absolute('docs', 'src', 'tests', '.guide', '.todo'));
  expect(policy.allowed).toEqual(['docs', 'src', 'tests', '.guide', '.todo']);
  expect(policy.warnings).toEqual([]);
});

test('paths become absolute and lose their slashes', () => {
  const allowedPaths = ['docs/', './a//b/', 'x/../c', path.join(projectRoot, 'd/')];
  expect(new SecurityPolicy({ projectRoot: `${projectRoot}//`, allowedPaths }).allowedPaths).toEqual(
    absolute('docs', 'a/b', 'c', 'd'),
  );
  expect(new SecurityPolicy({ projectRoot, allowedPaths: ['.'] }).allowedPaths).toEqual([projectRoot]);
});

test('a relative project root is relative to where the program runs', () => {
  expect(new SecurityPolicy({ projectRoot: '.' }).projectRoot).toBe(process.cwd());
});

describe('warnings', () => {
  test('name what does not exist or leads out, and are no error', () => {
    const told: string[] = [];
    const allowedPaths = ['docs', 'nowhere', 'out'];
    const policy = new SecurityPolicy({ projectRoot, allowedPaths, warn: (warning) => told.push(warning) });
    expect(told).toEqual([expect.stringMatching(/not exist.*nowhere/), expect.stringMatching(/outside.*out$/)]);
    expect(policy.warnings).toEqual(told);
    expect(told.join()).not.toContain(projectRoot);
  });

  test('tell of a project that is not there', () => {
    const missing = new SecurityPolicy({ projectRoot: path.join(projectRoot, 'none'), allowedPaths: ['docs'] });
    expect(missing.warnings).toEqual(['the project root does not exist']);
  });

  test('are none for a project on another machine', () => {
    expect(new SecurityPolicy({ remote: true, allowedPaths: ['nowhere'] }).warnings).toEqual([]);
  });
});

test.each(['..', '../x', '/etc', 'docs/../../x', 'C:\\x', 'a\0b'])('%j cannot be allowed', (allowed) => {
  expect(() => new SecurityPolicy({ projectRoot, allowedPaths: [allowed] })).toThrow(SecurityError);
});

test('a project on another machine lies at the top unless told otherwise', () => {
  expect(new SecurityPolicy({ remote: true, allowedPaths: ['docs'] })).toMatchObject({
    projectRoot: '/',
    allowedPaths: ['/docs'],
  });
  const policy = new SecurityPolicy({ remote: true, projectRoot: '/home/me/project/', allowedPaths: ['docs/'] });
  expect(policy.allowedPaths).toEqual(['/home/me/project/docs']);
});
