import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { outcome, Sandbox } from '../../src/fence/sandbox.fixture.ts';
import { copy } from '../../src/files/copy/copy.ts';
import { move } from '../../src/files/copy/move.ts';
import { removeFile } from '../../src/files/remove/remove-entry.ts';
import { removeFolder } from '../../src/files/remove/remove-folder.ts';
import { sweepLeftovers } from '../../src/files/sweep/sweep-leftovers.ts';
import { makeFolder } from '../../src/files/write/make-folder.ts';
import { WRITE_MODES, writeFile } from '../../src/files/write/write-file.ts';
import { DEFAULT_CONTEXT } from '../../src/runtime/operation-context.ts';

const box = new Sandbox('procfd');
const folder = box.folder('mounted');
const mount = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'none', folder], { encoding: 'utf8' });
const problem = mount.status === 0 ? undefined : (mount.stderr ?? mount.error?.message ?? 'no mount').trim();

describe.skipIf(problem)(`a read-only disk${problem ? ` (not here: ${problem})` : ''}`, () => {
  beforeAll(() => {
    box.file('mounted/d/f', 'old');
    expect(spawnSync('mount', ['-o', 'remount,ro', folder]).status).toBe(0);
  });

  const { path: file } = box.at('mounted/d/f');
  const { path: missing } = box.at('mounted/new/f');
  const { path: dir } = box.at('mounted/d');

  test.each(WRITE_MODES)('%s says so', async (mode) => {
    const write = (path: typeof file) => outcome(writeFile(box.root, path, Buffer.from('x'), { mode, durable: true }));
    expect(await write(missing)).toBe('read_only');
    if (mode !== 'create_only') expect(await write(file)).toBe('read_only');
    expect(box.text('mounted/d/f')).toBe('old');
  });

  test('so does everything else that changes files', async () => {
    box.file('f');
    expect(await outcome(makeFolder(box.root, missing))).toBe('read_only');
    expect(await outcome(removeFile(box.root, file))).toBe('read_only');
    expect(await outcome(removeFolder(box.root, dir, {}, DEFAULT_CONTEXT))).toBe('read_only');
    for (const op of [copy, move]) {
      expect(await outcome(op(box.at('f'), box.at('mounted/g'), { durable: true }, DEFAULT_CONTEXT))).toBe('read_only');
    }
    expect(await outcome(move(box.at('mounted/d/f'), box.at('g'), { durable: true }, DEFAULT_CONTEXT))).toBe(
      'read_only',
    );
    expect(await sweepLeftovers(box.root, DEFAULT_CONTEXT.signal)).toBe(0);
  });
});

afterAll(() => {
  if (problem === undefined) spawnSync('umount', [folder]);
  fs.rmdirSync(folder);
  box[Symbol.dispose]();
});
