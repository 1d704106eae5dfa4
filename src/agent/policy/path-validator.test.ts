import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tempDir } from '../../../tests/support/temp-dir.ts';
import { chooseBackend } from '../../fence/index.ts';
import { SecurityError } from '../bridge-error.ts';
import { PathValidator } from './path-validator.ts';
import { pathProblem } from './project-path.ts';
import { SecurityPolicy } from './security-policy.ts';

const remote = new PathValidator(new SecurityPolicy({ remote: true }));
const whole = new PathValidator(new SecurityPolicy({ remote: true, allowedPaths: ['.'] }));

/** The violation that a path is refused for, or what it becomes. */
function verdict(validator: PathValidator, raw: string): string {
  try {
    return validator.validate(raw);
  } catch (error) {
    return error instanceof SecurityError ? `! ${error.violation}` : `? ${error}`;
  }
}

describe('spelling', () => {
  test.each([
    ['docs', 'docs'],
    ['docs/', 'docs'],
    ['./docs//a.md', 'docs/a.md'],
    ['docs/../src/a', 'src/a'],
    ['private/../docs/a', 'docs/a'],
    ['docs\\sub\\a.md', 'docs/sub/a.md'],
    ['docs\\..\\src\\a', 'src/a'],
    ['docs/%2e%2e/%00', 'docs/%2e%2e/%00'],
    ['docs/..a', 'docs/..a'],
    ['docs/C:', 'docs/C:'],
    ['/docs/a', 'docs/a'],
  ])('%j is %s', (raw, normalised) => {
    expect(verdict(remote, raw)).toBe(normalised);
  });

  test.each([
    ['..', 'traversal'],
    ['docs/../../etc/passwd', 'traversal'],
    ['docs\\..\\..\\x', 'traversal'],
    ['docs/.. /x', 'traversal'],
    ['docs/.../x', 'traversal'],
    ['docs/..\\../x', 'traversal'],
    ['', 'not_allowed'],
    ['.', 'not_allowed'],
    ['docsX/a', 'not_allowed'],
    ['Docs/a', 'not_allowed'],
    ['docs/../private', 'not_allowed'],
    ['/etc/passwd', 'not_allowed'],
    ['docs/.ringfence-tmp-1', 'not_allowed'],
    ['//host/share', 'absolute'],
    ['\\\\host\\share', 'absolute'],
    ['C:\\docs', 'absolute'],
    ['c:docs', 'absolute'],
    ['file:///docs/a', 'absolute'],
    ['FILE:docs/a', 'absolute'],
    ['https://host/docs/a', 'absolute'],
    ['~/docs', 'absolute'],
    ['~root/docs', 'absolute'],
    ['docs/a\0b', 'characters'],
    ['docs/a\nb', 'characters'],
    ['docs/a\u009bb', 'characters'],
    ['docs/a\ud800', 'characters'],
  ])('%j is refused: %s', (raw, violation) => {
    expect(verdict(remote, raw)).toBe(`! ${violation}`);
  });

  test.each(['x/../C:/y', 'x/../~/y', 'x/../file:/y', 'x/../~root'])(
    '%j is absolute once ".." is resolved, and is refused even if everything is allowed',
    (raw) => {
      expect(verdict(whole, raw)).toBe('! absolute');
    },
  );

  test('the whole project is allowed by "." and by the empty path', () => {
    for (const allowed of ['.', '', './']) {
      const validator = new PathValidator(new SecurityPolicy({ remote: true, allowedPaths: [allowed] }));
      expect([verdict(validator, ''), verdict(validator, 'any/thing'), verdict(validator, '../x')]).toEqual([
        '.',
        'any/thing',
        '! traversal',
      ]);
    }
  });

  test('a path that is too long or not a string is invalid, not a violation', () => {
    expect(() => remote.validate(`docs/${'a'.repeat(5000)}`)).toThrow(/too long/);
    expect(() => remote.validate(7 as never)).toThrow(/must be a string/);
  });

  test('one refused path refuses the whole batch', () => {
    expect(remote.validateAll(['docs/a', 'src/../docs/b'])).toEqual(['docs/a', 'docs/b']);
    expect(() => remote.validateAll(['docs/a', '../b'])).toThrow(SecurityError);
  });

  test('pathProblem checks the form of a path', () => {
    expect(pathProblem('docs/a')).toBeUndefined();
    expect(pathProblem('../x')).toBeUndefined();
    expect(pathProblem('a\0')).toMatch(/control/);
    expect(pathProblem('\udc00')).toMatch(/Unicode/);
    expect(pathProblem('x'.repeat(5000))).toMatch(/longer/);
  });
});

describe.each(['openat2', 'procfd', 'portable'] as const)('links, with the backend %s', (name) => {
  const base = tempDir();
  const projectRoot = path.join(base, 'project');
  const validator = (allowedPaths?: string[]) =>
    new PathValidator(new SecurityPolicy({ projectRoot, allowedPaths, backend: chooseBackend(name) }));

  beforeAll(() => {
    for (const folder of ['docs/sub', 'src', 'private'])
      fs.mkdirSync(path.join(projectRoot, folder), { recursive: true });
    for (const file of ['docs/a.md', 'private/key', '../outside']) fs.writeFileSync(path.join(projectRoot, file), '');
    const links: Record<string, string> = {
      'docs/inside': 'a.md',
      'docs/absolute': path.join(projectRoot, 'docs/a.md'),
      'docs/chain': 'chain-2',
      'docs/chain-2': '../src/../docs/inside',
      'docs/to-src': '../src',
      'docs/dangling': '../src/later.ts',
      'docs/sub/up': '../..',
      'docs/out': '../../outside',
      'docs/out-absolute': '/etc',
      'docs/out-dangling': '../../nothing',
      'docs/chain-out': 'out',
      'docs/private': '../private',
      'docs/circle': 'circle-2',
      'docs/circle-2': 'circle',
      'src/back': '../docs/private',
    };
    for (const [link, target] of Object.entries(links)) fs.symlinkSync(target, path.join(projectRoot, link));
  });
  afterAll(() => fs.rmSync(base, { recursive: true }));

  test.each([
    'docs/inside',
    'docs/absolute',
    'docs/chain',
    'docs/to-src/new.ts',
    'docs/dangling',
    'docs/sub/up/docs/a.md',
    'docs/a.md/not-a-folder',
    'docs/new/deep/file',
  ])('%s is allowed', (raw) => {
    expect(verdict(validator(), raw)).toBe(raw);
  });

  test.each([
    'docs/out',
    'docs/out-absolute',
    'docs/out-absolute/passwd',
    'docs/out-dangling',
    'docs/out-dangling/x',
    'docs/chain-out',
    'docs/private',
    'docs/private/key',
    'docs/sub/up/private/key',
    'docs/sub/up',
    'src/back/key',
  ])('%s leaves the allowed folders', (raw) => {
    expect(verdict(validator(), raw)).toBe('! link');
  });

  test.each(['docs/circle', 'docs/circle-2/x'])('%s is a link loop', (raw) => {
    expect(verdict(validator(), raw)).toBe('! circle');
  });

  test('a link into another allowed folder is allowed, and validateSpelling follows no link', () => {
    expect(verdict(validator(['docs', 'private']), 'docs/private/key')).toBe('docs/private/key');
    expect(validator().validateSpelling('docs/out')).toBe('docs/out');
  });

  test('absolute paths are accepted below the project root only', () => {
    expect(verdict(validator(), path.join(projectRoot, 'docs/a.md'))).toBe('docs/a.md');
    expect(verdict(validator(), `${projectRoot}/docs/../../outside`)).toBe('! traversal');
    expect(verdict(validator(), `${projectRoot}X/docs/a.md`)).toBe('! absolute');
    expect(verdict(validator(), '/docs/a.md')).toBe('! absolute');
  });

  test('a replaced project folder is opened again', () => {
    const again = path.join(base, 'again');
    const policy = new SecurityPolicy({ projectRoot: again, backend: chooseBackend(name) });
    expect(verdict(new PathValidator(policy), 'docs/link')).toBe('docs/link');
    for (let i = 0; i < 2; i += 1) {
      fs.mkdirSync(path.join(again, 'docs'), { recursive: true });
      fs.symlinkSync('/etc', path.join(again, 'docs/link'));
      expect(verdict(new PathValidator(policy), 'docs/link')).toBe('! link');
      fs.rmSync(again, { recursive: true });
    }
  });

  test('no descriptor stays open', () => {
    const open = () => fs.readdirSync('/proc/self/fd').length;
    const before = open();
    for (let i = 0; i < 20; i += 1)
      for (const raw of ['docs/a.md', 'docs/out', 'docs/circle']) verdict(validator(), raw);
    expect(open()).toBeLessThan(before + 10);
  });
});

test('every path of an unreadable project is refused', () => {
  const file = path.join(tempDir(), 'file');
  fs.writeFileSync(file, '');
  const policy = new SecurityPolicy({ projectRoot: file, allowedPaths: ['docs'] });
  expect(policy.warnings).toEqual([expect.stringContaining('cannot be read')]);
  expect(() => new PathValidator(policy).validate('docs/a')).toThrow();
  fs.rmSync(path.dirname(file), { recursive: true });
});
