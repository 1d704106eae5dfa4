import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { RingfenceError } from '../../src/errors.ts';
import { SECRET } from '../../src/fence/escape-layouts.fixture.ts';
import { type BackendName, chooseBackend, parseCallerPath, Root } from '../../src/fence/index.ts';
import { OUTSIDE_NAME, swapLayout } from '../support/swap-layout.ts';
import { startSwapper } from '../support/swapper.ts';

const SECONDS = 2;
/** How long the control may take until its first leak; it needs a fraction of a second. */
const CONTROL_SECONDS = 20;

function readText(file: { read(into: Uint8Array): number }): string {
  const into = Buffer.alloc(256);
  return into.subarray(0, file.read(into)).toString();
}

/** Everything an operation does through the fence, on paths that cross the folder being swapped. */
const ATTACKS: Readonly<Record<string, (root: Root, turn: number) => string>> = {
  read(root) {
    using file = root.openFile(parseCallerPath('dir/nested.txt'));
    return readText(file);
  },
  'read what is only outside'(root) {
    using file = root.openFile(parseCallerPath('dir/secret.txt'));
    return readText(file);
  },
  list(root) {
    using dir = root.openDir(parseCallerPath('dir'));
    return dir
      .list()
      .map((entry) => entry.name)
      .join();
  },
  'list, then read'(root) {
    using dir = root.openDir(parseCallerPath('dir'));
    const texts = dir.list().map((entry) => {
      if (entry.type !== 'file') return '';
      using file = dir.openFile(entry.raw);
      return readText(file);
    });
    return texts.join();
  },
  'enter by name'(root) {
    using top = root.openDir(parseCallerPath(''));
    using dir = top.openDir('dir');
    using file = dir.openFile('nested.txt');
    return readText(file);
  },
  stat(root) {
    using found = root.locate(parseCallerPath('dir/secret.txt'), { follow: true });
    return found.stats === undefined ? '' : SECRET;
  },
  create(root, turn) {
    using found = root.locate(parseCallerPath(`dir/new-${turn}`), { follow: true });
    found.dir.createFile(found.name)[Symbol.dispose]();
    found.dir.unlink(found.name);
    return '';
  },
  overwrite(root, turn) {
    using found = root.locate(parseCallerPath(`dir/victim-${turn % 4}`), { follow: true });
    using file = found.dir.openFile(found.name, fs.constants.O_WRONLY | fs.constants.O_CREAT);
    file.writeAll(Buffer.from('ours'));
    file.chmod(0o644);
    return '';
  },
  'create with parents'(root, turn) {
    using found = root.locate(parseCallerPath(`dir/p-${turn}/q`), { follow: true, makeParents: true });
    found.dir.mkdir(found.name);
    found.dir.rmdir(found.name);
    return '';
  },
  unlink(root, turn) {
    using found = root.locate(parseCallerPath(`dir/victim-${turn % 4}`), { follow: false });
    found.dir.unlink(found.name);
    return '';
  },
  rename(root, turn) {
    using from = root.locate(parseCallerPath(`dir/victim-${turn % 4}`), { follow: false });
    using to = root.locate(parseCallerPath('dir/victim-0'), { follow: false });
    from.dir.rename(from.name, to.dir, to.name);
    return '';
  },
  'rename to a new name'(root, turn) {
    using from = root.locate(parseCallerPath('dir/nested.txt'), { follow: false });
    using to = root.locate(parseCallerPath(`dir/renamed-${turn}`), { follow: false });
    from.dir.renameNoReplace(from.name, to.dir, to.name);
    to.dir.renameNoReplace(to.name, from.dir, from.name);
    return '';
  },
  'mkdir and rmdir'(root) {
    using found = root.locate(parseCallerPath('dir/empty'), { follow: false });
    found.dir.rmdir(found.name);
    found.dir.mkdir(found.name);
    return '';
  },
  chmod(root) {
    using found = root.locate(parseCallerPath('dir/empty'), { follow: false });
    found.dir.chmod(found.name, 0o755);
    using top = root.openDir(parseCallerPath(''));
    top.chmod('dir', 0o755);
    return '';
  },
  'replace the folder itself'(root) {
    using found = root.locate(parseCallerPath('dir'), { follow: true });
    using dir = found.dir.openDir(found.name);
    return dir
      .list()
      .map((entry) => entry.name)
      .join();
  },
};

describe.each<BackendName>(['openat2', 'procfd'])('a folder swapped with a link out, on %s', (backend) => {
  test('nothing leaks and nothing outside is touched', async () => {
    using layout = swapLayout();
    const before = layout.snapshotOutside();
    using root = Root.open('r', layout.rootPath, chooseBackend(backend));
    const leaks: string[] = [];
    const done = new Map<string, number>();
    const refused = new Map<string, number>();

    await using swapper = await startSwapper(layout.first, layout.second, SECONDS + 1);
    const end = performance.now() + SECONDS * 1000;
    for (let turn = 0; performance.now() < end; turn += 1) {
      for (const [name, attack] of Object.entries(ATTACKS)) {
        try {
          const seen = attack(root, turn);
          if (seen.includes(SECRET) || seen.includes(OUTSIDE_NAME)) leaks.push(`${name}: ${seen}`);
          count(done, name);
        } catch (error) {
          if (!(error instanceof RingfenceError)) throw error;
          count(refused, error.code);
        }
      }
    }

    expect(await swapper.finished()).toBeGreaterThan(1000);
    expect(leaks).toEqual([]);
    expect(layout.snapshotOutside()).toBe(before);
    // The attack was met from both sides: the folder was seen as a folder and as a link.
    expect(done.get('read')).toBeGreaterThan(0);
    expect(refused.get('outside_root')).toBeGreaterThan(0);
  });
});

test('control: checking the real path before opening does leak under the same attack', async () => {
  using layout = swapLayout();
  await using _swapper = await startSwapper(layout.first, layout.second, CONTROL_SECONDS);
  const end = performance.now() + CONTROL_SECONDS * 1000;
  let leaked = false;
  for (let tries = 0; !leaked && (tries % 100 !== 0 || performance.now() < end); tries += 1) {
    leaked = readByCheckedPath(layout.rootPath, 'dir/nested.txt')?.includes(SECRET) ?? false;
  }
  expect(leaked).toBe(true);
});

/** What many servers do: resolve, compare, then open by name once more. */
function readByCheckedPath(root: string, name: string): string | undefined {
  try {
    const host = path.join(root, name);
    return fs.realpathSync(host).startsWith(root + path.sep) ? fs.readFileSync(host, 'utf8') : undefined;
  } catch {
    return undefined;
  }
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
