import { describe, expect, test } from 'vitest';
import { RingfenceError } from '../errors.ts';
import { Sandbox } from '../fence/sandbox.fixture.ts';
import { isAbsolute, outsideRootError, parseRelativePart, parseRelativePath } from './relative-path.ts';

function failure(work: () => unknown): RingfenceError {
  try {
    work();
  } catch (error) {
    if (error instanceof RingfenceError) return error;
    throw error;
  }
  throw new Error('it worked');
}

test('isAbsolute accepts the absolute paths of every system', () => {
  expect(['/', '//a', '\\a', 'C:\\a', 'c:/a'].every(isAbsolute)).toBe(true);
  expect(['', 'a', './a', 'a:b', 'a/C:/b', '~/a'].some(isAbsolute)).toBe(false);
});

describe('a relative path', () => {
  test('may be written with backslashes, and keeps its spelling', () => {
    using box = new Sandbox('openat2');
    expect(parseRelativePath(box.root, 'a\\b\\..\\c')).toEqual({ raw: 'a\\b\\..\\c', segments: ['a', 'c'] });
  });

  test.each(['a\\..\\..\\outside\\secret', 'a/../../outside/secret'])(
    '%s is refused, because it leads outside',
    (raw) => {
      using box = new Sandbox('openat2');
      expect(failure(() => parseRelativePath(box.root, raw))).toMatchObject({
        code: 'outside_root',
        details: { resolved: `${box.outside}/secret` },
        path: raw,
        root: 'workspace',
      });
    },
  );

  test.each([
    ['/etc/../etc/passwd', '/etc/passwd'],
    ['\\etc\\passwd', '/etc/passwd'],
    ['C:\\Users\\..\\x', 'C:/x'],
  ])('%s is refused, because it is absolute', (raw, resolved) => {
    using box = new Sandbox('openat2');
    expect(failure(() => parseRelativePath(box.root, raw))).toMatchObject({
      code: 'outside_root',
      details: { resolved },
      path: raw,
      root: 'workspace',
    });
  });

  test('that is invalid is reported as it was sent', () => {
    using box = new Sandbox('openat2');
    expect(failure(() => parseRelativePath(box.root, 'a\\b\0'))).toMatchObject({
      code: 'invalid_path',
      path: 'a\\b\0',
    });
  });
});

test('parseRelativePart resolves the part and reports the whole path', () => {
  using box = new Sandbox('openat2');
  expect(parseRelativePart(box.root, '/top\\a', '\\a')).toEqual({ raw: '/top\\a', segments: ['a'] });
  expect(failure(() => parseRelativePart(box.root, '/top/../x', '/../x'))).toMatchObject({
    code: 'outside_root',
    details: { resolved: box.host('..', 'x') },
    path: '/top/../x',
  });
  expect(outsideRootError(box.root, 'elsewhere')).toMatchObject({
    code: 'outside_root',
    details: {},
    path: 'elsewhere',
  });
});
