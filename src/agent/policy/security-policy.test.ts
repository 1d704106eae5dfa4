import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tempDir } from '../../../tests/support/temp-dir.ts';
import { SecurityError } from '../bridge-error.ts';
import { SecurityPolicy } from './security-policy.ts';

const projectRoot = tempDir();
beforeAll(() => {
  fs.mkdirSync(path.join(projectRoot, 'docs'));
  fs.symlinkSync('/etc', path.join(projectRoot, 'out'));
});
afterAll(() => fs.rmSync(projectRoot, { recursive: true }));

const absolute = (...names: string[]) => names.map((name) => path.join(projectRoot, name));

test('the default folders are allowed without warnings', () => {
  const policy = new SecurityPolicy({ projectRoot });
  expect(policy.allowedPaths).toEqual(absolute('docs', 'src', 'tests', '.guide', '.todo'));
  expect(policy.allowed).toEqual(['docs', 'src', 'tests', '.guide', '.todo']);
  expect(policy.warnings).toEqual([]);
});

test('allowed paths become absolute without trailing slashes', () => {
  const allowedPaths = ['docs/', './a//b/', 'x/../c', path.join(projectRoot, 'd/')];
  expect(new SecurityPolicy({ projectRoot: `${projectRoot}//`, allowedPaths }).allowedPaths).toEqual(
    absolute('docs', 'a/b', 'c', 'd'),
  );
  expect(new SecurityPolicy({ projectRoot, allowedPaths: ['.'] }).allowedPaths).toEqual([projectRoot]);
});

test('a relative project root is relative to the current directory', () => {
  expect(new SecurityPolicy({ projectRoot: '.' }).projectRoot).toBe(process.cwd());
});

describe('warnings', () => {
  test('name allowed paths that do not exist or lead outside', () => {
    const told: string[] = [];
    const allowedPaths = ['docs', 'nowhere', 'out'];
    const policy = new SecurityPolicy({ projectRoot, allowedPaths, warn: (warning) => told.push(warning) });
    expect(told).toEqual([expect.stringMatching(/not exist.*nowhere/), expect.stringMatching(/outside.*out$/)]);
    expect(policy.warnings).toEqual(told);
    expect(told.join()).not.toContain(projectRoot);
  });

  test('name a project root that does not exist', () => {
    const missing = new SecurityPolicy({ projectRoot: path.join(projectRoot, 'none'), allowedPaths: ['docs'] });
    expect(missing.warnings).toEqual(['the project root does not exist']);
  });

  test('are absent for a remote project', () => {
    expect(new SecurityPolicy({ remote: true, allowedPaths: ['nowhere'] }).warnings).toEqual([]);
  });
});

test.each(['..', '../x', '/etc', 'docs/../../x', 'C:\\x', 'a\0b'])('%j cannot be allowed', (allowed) => {
  expect(() => new SecurityPolicy({ projectRoot, allowedPaths: [allowed] })).toThrow(SecurityError);
});

test('the root of a remote project is / by default', () => {
  expect(new SecurityPolicy({ remote: true, allowedPaths: ['docs'] })).toMatchObject({
    projectRoot: '/',
    allowedPaths: ['/docs'],
  });
  const policy = new SecurityPolicy({ remote: true, projectRoot: '/home/me/project/', allowedPaths: ['docs/'] });
  expect(policy.allowedPaths).toEqual(['/home/me/project/docs']);
});
