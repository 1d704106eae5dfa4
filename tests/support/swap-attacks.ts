import fs from 'node:fs';
import { describe, expect, test } from 'vitest';
import { RingfenceError } from '../../src/errors.ts';
import { SECRET } from '../../src/fence/escape-layouts.fixture.ts';
import { type BackendName, chooseBackend, parseCallerPath, Root } from '../../src/fence/index.ts';
import { recordFigure } from './figures.ts';
import { OUTSIDE_NAME, swapLayout } from './swap-layout.ts';
import { startSwapper } from './swapper.ts';

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

/** How long an attack lasts: until both the time and the number of operations have been reached. */
interface AttackLength {
  readonly seconds: number;
  readonly operations: number;
  /** How long it may take to reach them. */
  readonly limitSeconds: number;
}

/** Defines the tests that race every operation of the fence against a process that swaps a folder with a link out of the root. */
export function testSwappedFolder({ seconds, operations, limitSeconds }: AttackLength): void {
  describe.each<BackendName>(['openat2', 'procfd'])('a folder swapped with a link out, on %s', (backend) => {
    test('nothing leaks and nothing outside is touched', { timeout: (limitSeconds + 30) * 1000 }, async () => {
      using layout = swapLayout();
      const before = layout.snapshotOutside();
      using root = Root.open('r', layout.rootPath, chooseBackend(backend));
      const leaks: string[] = [];
      const done = new Map<string, number>();
      const refused = new Map<string, number>();
      let started = 0;

      await using swapper = await startSwapper(layout.first, layout.second, limitSeconds + 1);
      const begin = performance.now();
      const elapsed = (): number => (performance.now() - begin) / 1000;
      for (let turn = 0; elapsed() < seconds || (started < operations && elapsed() < limitSeconds); turn += 1) {
        for (const [name, attack] of Object.entries(ATTACKS)) {
          started += 1;
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

      const swaps = await swapper.stop();
      recordFigure(`swapped folder, ${backend}: raced operations`, started, 'operations');
      recordFigure(`swapped folder, ${backend}: swaps`, swaps, 'swaps');
      recordFigure(`swapped folder, ${backend}: escapes`, leaks.length, 'escapes');
      expect(swaps).toBeGreaterThan(1000);
      expect(leaks).toEqual([]);
      expect(layout.snapshotOutside()).toBe(before);
      expect(started).toBeGreaterThanOrEqual(operations);
      // The attack was met from both sides: the folder was seen as a folder and as a link.
      expect(done.get('read')).toBeGreaterThan(0);
      expect(refused.get('outside_root')).toBeGreaterThan(0);
    });
  });
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
