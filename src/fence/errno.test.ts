import util from 'node:util';
import { expect, test } from 'vitest';
import { errnoName, errnoOf, fromSystem, withLocation } from './errno.ts';
import { FenceError } from './errors.ts';

test('a number has the name that Node gives it', () => {
  // openat2 answers EAGAIN to whoever should try again.
  for (const name of ['EAGAIN', 'ENOTSUP', 'ENOENT', 'EXDEV', 'ELOOP'] as const) {
    const errno = [...util.getSystemErrorMap()].find(([, [known]]) => known === name)?.[0] ?? 0;
    expect(errnoName(-errno)).toBe(name);
  }
  expect(errnoName(122)).toBe('EDQUOT');
  expect(errnoName(9999)).toBe('E9999');
});

test('an error that Node has no name for is recognized by its number', () => {
  const nameless = (errno: number) =>
    Object.assign(new Error('write'), { code: util.getSystemErrorName(errno), errno, syscall: 'write' });
  expect(errnoOf(nameless(-122))).toBe('EDQUOT');
  expect(fromSystem(nameless(-122))).toMatchObject({ code: 'disk_full' });
  expect(fromSystem(nameless(-116))).toMatchObject({ code: 'io_error', details: { errno: 'ESTALE' } });
});

test('anything that is no system error passes unchanged', () => {
  for (const other of [new Error('bug'), Object.assign(new Error('bug'), { code: 'ERR_X' }), 'text', undefined]) {
    expect(errnoOf(other)).toBe(undefined);
    expect(fromSystem(other)).toBe(other);
  }
  expect(fromSystem(new FenceError('not_found', {}), 'p', 'r')).toMatchObject({ path: 'p', root: 'r' });
});

test('a failure counts, not that its descriptor could not be closed either', async () => {
  const stale = Object.assign(new Error('close'), { code: util.getSystemErrorName(-116), errno: -116 });
  const work = () => {
    using _file = {
      [Symbol.dispose]() {
        throw stale;
      },
    };
    throw new FenceError('not_found', {});
  };
  const failure = withLocation({ name: 'r' }, { raw: 'p' }, work);
  await expect(failure).rejects.toMatchObject({ code: 'not_found', path: 'p', root: 'r' });
});
