import fs from 'node:fs';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { closeQuietly } from './close-quietly.ts';
import { parseCallerPath } from './index.ts';
import { onEveryBackend, outcome, type Sandbox } from './sandbox.fixture.ts';

const { closeSync } = fs;

afterEach(() => void vi.restoreAllMocks());

/** Has every close(2) fail as on GlusterFS: the descriptor is closed nevertheless. */
function failToClose(error: object): void {
  vi.spyOn(fs, 'closeSync').mockImplementation((fd) => {
    closeSync(fd);
    throw Object.assign(new Error('cannot be closed'), error);
  });
}

describe.each([
  ['ENOENT', { code: 'ENOENT', errno: -2 }],
  ['ESTALE', { code: 'Unknown system error -116', errno: -116 }],
  ['EIO', { code: 'EIO', errno: -5 }],
])('where closing fails with %s', (_errno, error) => {
  onEveryBackend((open) => {
    const inTop = <T>({ root }: Sandbox, work: (dir: ReturnType<typeof root.openDir>) => T): T => {
      using dir = root.openDir(parseCallerPath('.'));
      return work(dir);
    };

    test('what was only read is read, and other failures are reported as what they are', async () => {
      using box = open();
      box.file('d/f', 'content');
      failToClose(error);
      expect(inTop(box, (dir) => dir.list().map(({ name }) => name))).toEqual(['d']);
      expect(await outcome(() => inTop(box, (dir) => dir.openForRead('d')))).toBe('is_directory');
      expect(await outcome(() => inTop(box, (dir) => dir.openFile('d')))).toBe('is_directory');
      expect(await outcome(() => box.root.openFile(parseCallerPath('d')))).toBe('is_directory');
      using found = box.root.locate(parseCallerPath('d/f'), { follow: false });
      expect(found.dir.isStored(found.name)).toBe(true);
    });
  });
});

test('closing what is not open is an error', () => {
  const fd = fs.openSync('/', 'r');
  closeQuietly(fd);
  expect(() => closeQuietly(fd)).toThrow('EBADF');
});
