import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { chooseBackend, parseCallerPath, Root } from '../fence/index.ts';
import { DEFAULT_CONTEXT } from '../runtime/operation-context.ts';
import { move } from './copy/move.ts';
import { deferFree } from './deferred-free.ts';
import { removeEntry, removeFile } from './remove/remove-entry.ts';
import { removeFolder } from './remove/remove-folder.ts';
import { writeFile } from './write/write-file.ts';

const top = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'hold-large-')));
const LARGE = 16 * 1024 * 1024;
const at = parseCallerPath;

afterAll(() => fs.rmSync(top, { recursive: true, force: true }));

beforeEach(() => {
  fs.rmSync(path.join(top, 'd'), { recursive: true, force: true });
  fs.mkdirSync(path.join(top, 'd'));
  for (const name of ['large', 'other', 'd/large']) {
    fs.writeFileSync(path.join(top, name), '');
    fs.truncateSync(path.join(top, name), LARGE);
  }
  fs.writeFileSync(path.join(top, 'small'), 'x');
});

/** Returns the unlinked files that this process still has open. */
function held(): string[] {
  const found: string[] = [];
  for (const fd of fs.readdirSync('/proc/self/fd')) {
    try {
      const target = fs.readlinkSync(`/proc/self/fd/${fd}`);
      if (target.startsWith(top) && target.endsWith(' (deleted)'))
        found.push(path.relative(top, target).split(' ')[0] ?? '');
    } catch {
      // The descriptor that readdir used is closed by now.
    }
  }
  return found;
}

describe.runIf(process.platform === 'linux').each(['openat2', 'procfd'] as const)('%s', (backend) => {
  test('an unlinked large file is held open until it is disposed of, and closed soon after', async () => {
    using root = Root.open('w', top, chooseBackend(backend));
    {
      using place = root.locate(at('large'), { follow: false });
      using _held = deferFree(place);
      place.dir.unlink(place.name);
      expect(held()).toEqual(['large']);
    }
    await vi.waitFor(() => expect(held()).toEqual([]));
  });

  test('a small file and a missing entry are not held open', () => {
    using root = Root.open('w', top, chooseBackend(backend));
    for (const name of ['small', 'missing']) {
      using place = root.locate(at(name), { follow: false });
      expect(deferFree(place)).toBeUndefined();
    }
    using gone = root.locate(at('large'), { follow: false });
    gone.dir.unlink(gone.name);
    expect(deferFree(gone)).toBeUndefined();
  });

  test.each([
    ['removing a file', (root: Root) => removeFile(root, at('large'))],
    ['removing an entry', (root: Root) => removeEntry(root, at('large'), {}, DEFAULT_CONTEXT)],
    ['removing a folder', (root: Root) => removeFolder(root, at('d'), {}, DEFAULT_CONTEXT)],
    [
      'overwriting',
      (root: Root) => writeFile(root, at('large'), Buffer.from('x'), { mode: 'overwrite', durable: false }),
    ],
    [
      'moving over',
      (root: Root) =>
        move({ root, path: at('small') }, { root, path: at('large') }, { durable: false }, DEFAULT_CONTEXT),
    ],
  ])('%s holds a large file open and closes it on another thread', async (_what, work) => {
    using root = Root.open('w', top, chooseBackend(backend));
    const close = vi.spyOn(fs, 'close');
    await work(root);
    expect(close).toHaveBeenCalledOnce();
    close.mockRestore();
    await vi.waitFor(() => expect(held()).toEqual([]));
  });
});
