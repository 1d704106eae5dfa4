import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BACKEND_NAMES } from '../../src/fence/index.ts';
import { outcome, Sandbox } from '../../src/fence/sandbox.fixture.ts';
import { copy } from '../../src/files/copy/copy.ts';
import { move } from '../../src/files/copy/move.ts';
import { patchFile } from '../../src/files/edit/edit-file.ts';
import { type WriteMode, writeFile } from '../../src/files/write/write-file.ts';
import { DEFAULT_CONTEXT } from '../../src/runtime/operation-context.ts';
import { tempDir } from '../support/temp-dir.ts';

const mounted = tempDir('ringfence-small-');
const mount = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'none', mounted], { encoding: 'utf8' });
const problem = mount.status === 0 ? undefined : (mount.stderr ?? mount.error?.message ?? 'no mount').trim();

describe.skipIf(problem)(`a disk of 256 KB${problem ? ` (not here: ${problem})` : ''}`, () => {
  const HALF = 'o'.repeat(100 * 1024);
  const MORE = Buffer.alloc(200 * 1024, 'n');

  beforeAll(() => {
    expect(fs.statSync(mounted).dev).not.toBe(fs.statSync(os.tmpdir()).dev);
  });

  describe.each(BACKEND_NAMES)('%s', (backend) => {
    const small = () => new Sandbox(backend, mounted);
    const write = (box: Sandbox, raw: string, mode: WriteMode) =>
      outcome(writeFile(box.root, box.at(raw).path, MORE, { mode, durable: true }));

    test.each(['overwrite', 'append'] as const)('%s that does not fit leaves the old content', async (mode) => {
      using box = small();
      box.file('f', HALF);
      expect(await write(box, 'f', mode)).toBe('disk_full');
      expect(box.text('f')).toBe(HALF);
      expect(box.tree()).toEqual(['f']);
    });

    test.each(['overwrite', 'append', 'create_only'] as const)(
      '%s of a new file that does not fit makes none',
      async (mode) => {
        using box = small();
        box.file('f', HALF);
        expect(await write(box, 'g', mode)).toBe('disk_full');
        expect(box.tree()).toEqual(['f']);
      },
    );

    test('a patch that does not fit leaves the old content', async () => {
      using box = small();
      box.file('f', `${HALF}\n`);
      const text = `--- a/f\n+++ b/f\n@@ -1 +1,2 @@\n ${HALF}\n+${'x'.repeat(150 * 1024)}\n`;
      expect(await outcome(patchFile(box.root, box.at('f').path, text, { durable: true }))).toBe('disk_full');
      expect(box.text('f')).toBe(`${HALF}\n`);
      expect(box.tree()).toEqual(['f']);
    });

    test('a copy that does not fit leaves what was there and nothing else', async () => {
      using box = small();
      using large = new Sandbox(backend);
      large.file('f', MORE);
      large.file('d/a', HALF);
      large.file('d/b', MORE);
      box.file('f', HALF);
      const attempt = (from: string, to: string) =>
        outcome(copy(large.at(from), box.at(to), { durable: true }, DEFAULT_CONTEXT));
      expect(await attempt('f', 'f')).toBe('disk_full');
      expect(await attempt('f', 'new')).toBe('disk_full');
      expect(await attempt('d', 'd')).toBe('disk_full');
      expect(box.text('f')).toBe(HALF);
      expect(box.tree()).toEqual(['f']);
    });

    test('a move that does not fit leaves the source', async () => {
      using box = small();
      using large = new Sandbox(backend);
      large.file('f', MORE);
      large.file('d/a', HALF);
      large.file('d/b', MORE);
      box.file('f', HALF);
      const attempt = (from: string, to: string) =>
        outcome(move(large.at(from), box.at(to), { durable: true }, DEFAULT_CONTEXT));
      expect(await attempt('f', 'f')).toBe('disk_full');
      expect(await attempt('d', 'd')).toBe('disk_full');
      expect(large.tree()).toEqual(['d/', 'd/a', 'd/b', 'f']);
      expect(box.text('f')).toBe(HALF);
      expect(box.tree()).toEqual(['f']);
    });
  });

  test('what was left of the room is still there', async () => {
    using box = new Sandbox('openat2', mounted);
    expect(await outcome(writeFile(box.root, box.at('f').path, MORE, { mode: 'overwrite', durable: true }))).toBe('ok');
  });
});

afterAll(() => {
  if (problem === undefined) spawnSync('umount', [mounted]);
  fs.rmdirSync(mounted);
});
