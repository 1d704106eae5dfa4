import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import { describe, expect, test, vi } from 'vitest';
import { BACKEND_NAMES, parseCallerPath, ROOT_PATH } from '../../fence/index.ts';
import { memory, onEveryBackend, outcome, Sandbox } from '../../fence/sandbox.fixture.ts';
import { DEFAULT_CONTEXT } from '../../runtime/operation-context.ts';
import { copy } from '../copy/copy.ts';
import { move } from '../copy/move.ts';
import { patchFile } from '../edit/edit-file.ts';
import { removeFile } from '../remove/remove-entry.ts';
import { versionOf } from '../version.ts';
import { type WriteMode, writeFile } from './write-file.ts';

const FAST = { durable: false };
const versionAt = (box: Sandbox, name: string) => versionOf(fs.lstatSync(box.host(name)));
const sha256 = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;
const write = ({ root }: Sandbox, raw: string, ifMatch: string, mode: WriteMode = 'overwrite') =>
  writeFile(root, parseCallerPath(raw), Buffer.from('new'), { ...FAST, mode, ifMatch });

/** Everything that changes `f` on a condition; a copy goes to it, a move takes it away. */
const CHANGES: Readonly<Record<string, (box: Sandbox, ifMatch: string) => Promise<unknown>>> = {
  overwrite: (box, ifMatch) => write(box, 'f', ifMatch),
  append: (box, ifMatch) => write(box, 'f', ifMatch, 'append'),
  patch: ({ root }, ifMatch) =>
    patchFile(root, parseCallerPath('f'), '@@ -1 +1 @@\n-old\n+new\n', { ...FAST, ifMatch }),
  remove: ({ root }, ifMatch) => removeFile(root, parseCallerPath('f'), { ifMatch }),
  move: (box, ifMatch) => move(box.at('f'), box.at('moved'), { ...FAST, ifMatch }),
  copy: (box, ifMatch) => copy(box.at('source'), box.at('f'), { ...FAST, ifMatch }),
};

onEveryBackend((open) => {
  test.each(Object.keys(CHANGES))('%s happens to the expected file only', async (name) => {
    using box = open();
    const change = CHANGES[name] as (typeof CHANGES)[string];
    box.file('source', 'new');
    box.file('f', 'old\n');
    const before = fs.lstatSync(box.host('f'));
    for (const other of ['0123456789ab', 'absent', '', sha256('other'), 'sha256:']) {
      await expect(change(box, other)).rejects.toMatchObject({
        code: 'version_mismatch',
        details: { expected: other, now: { version: versionOf(before), size: 4, mtimeMs: before.mtimeMs } },
        path: 'f',
      });
      expect(versionAt(box, 'f')).toBe(versionOf(before));
    }
    expect(await outcome(change(box, versionOf(before)))).toBe('ok');
    expect(box.exists('f') && versionAt(box, 'f') === versionOf(before)).toBe(false);
    box.file('f', 'old\n');
    expect(await outcome(change(box, sha256('old\n').toUpperCase().replace('SHA256', 'sha256')))).toBe('ok');
    expect(box.exists('f') && box.text('f') === 'old\n').toBe(false);
    expect(box.tree().filter((entry) => entry.startsWith('.'))).toEqual([]);
  });

  test('what has to be absent is created, once', async () => {
    using box = open();
    box.file('source', 'new');
    box.folder('tree');
    const patch = '@@ -0,0 +1 @@\n+new\n';
    for (const create of [
      (to: string) => write(box, to, 'absent'),
      (to: string) => write(box, to, 'absent', 'append'),
      (to: string) => patchFile(box.root, parseCallerPath(to), patch, { ...FAST, ifMatch: 'absent' }),
      (to: string) => copy(box.at('source'), box.at(to), { ...FAST, ifMatch: 'absent' }),
      (to: string) => copy(box.at('tree'), box.at(to), { ...FAST, ifMatch: 'absent', intoFolders: false }),
    ]) {
      expect(await outcome(create('a/b/f'))).toBe('ok');
      const version = versionAt(box, 'a/b/f');
      await expect(create('a/b/f')).rejects.toMatchObject({ code: 'version_mismatch', details: { now: { version } } });
      expect(versionAt(box, 'a/b/f')).toBe(version);
      fs.rmSync(box.host('a'), { recursive: true });
    }
  });

  test('a mismatch creates nothing, not even folders', async () => {
    using box = open();
    box.file('source', 'new');
    const now = undefined;
    const missing = { code: 'version_mismatch', details: { now } };
    await expect(write(box, 'a/b/f', '0123456789ab')).rejects.toMatchObject(missing);
    await expect(write(box, 'f', sha256(''))).rejects.toMatchObject(missing);
    const to = box.at('a/b/f');
    await expect(copy(box.at('source'), to, { ...FAST, ifMatch: '0123456789ab' })).rejects.toMatchObject(missing);
    const patch = '@@ -0,0 +1 @@\n+new\n';
    const patched = patchFile(box.root, to.path, patch, { ...FAST, ifMatch: '0123456789ab' });
    await expect(patched).rejects.toMatchObject(missing);
    expect(box.tree()).toEqual(['source']);
  });

  test('a folder and a link are moved by their own version', async () => {
    using box = open();
    box.file('d/f');
    box.link('d', 'l');
    for (const name of ['l', 'd']) {
      const step = (ifMatch: string) => move(box.at(name), box.at(`${name}2`), { ...FAST, ifMatch });
      expect(await outcome(step(versionAt(box, 'd/f')))).toBe('version_mismatch');
      expect(await outcome(step(sha256('d/f')))).toBe('version_mismatch');
      expect(await outcome(step(versionAt(box, name)))).toBe('ok');
    }
    const onto = copy(box.at('d2'), box.at('d3'), { ...FAST, ifMatch: '0123456789ab' });
    expect(await outcome(onto)).toBe('is_directory');
  });

  test('a write returns the version that the file has then, and no two writes the same', async () => {
    using box = open();
    const versions = new Set<string>();
    for (let turn = 0; turn < 300; turn += 1) {
      const stats = await writeFile(box.root, parseCallerPath('f'), Buffer.from('same size'), FAST);
      expect(versionOf(stats)).toBe(versionAt(box, 'f'));
      versions.add(versionOf(stats));
    }
    expect(versions.size).toBe(300);
    const appended = await writeFile(box.root, parseCallerPath('f'), Buffer.from('+'), { ...FAST, mode: 'append' });
    expect(versionOf(appended)).toBe(versionAt(box, 'f'));
    const patch = '@@ -1 +1 @@\n-same size+\n\\ No newline at end of file\n+new\n';
    const { version } = await patchFile(box.root, parseCallerPath('f'), patch, FAST);
    expect(version).toBe(versionAt(box, 'f'));
  });
});

const sameDevice = fs.statSync(memory()).dev === fs.statSync(os.tmpdir()).dev;

describe.skipIf(sameDevice)(`a move across filesystems${sameDevice ? ' (there is only one here)' : ''}`, () => {
  describe.each(BACKEND_NAMES)('%s', (backend) => {
    /** Moves `f` while something changes it: as soon as the rename fails, or when the copying reports progress. */
    const moving = async (here: Sandbox, change: () => void, when: 'rename' | 'progress', ifMatch?: string) => {
      using there = new Sandbox(backend, memory());
      using dir = here.root.openDir(ROOT_PATH);
      const dirs = Object.getPrototypeOf(dir) as typeof dir;
      const { rename } = dirs;
      let changed = false;
      const once = () => {
        if (!changed) change();
        changed = true;
      };
      const spy = vi.spyOn(dirs, 'rename').mockImplementation(function (this: typeof dir, ...args) {
        if (when === 'rename') once();
        return rename.apply(this, args);
      });
      try {
        const progress = when === 'progress' ? once : () => {};
        const ended = await outcome(
          move(here.at('f'), there.at('g'), { ...FAST, ifMatch }, { ...DEFAULT_CONTEXT, progress }),
        );
        expect(changed).toBe(true);
        return [ended, here.tree(), there.tree()];
      } finally {
        spy.mockRestore();
      }
    };

    test('takes the expected file only, also if it is changed after the attempt to rename it', async () => {
      using here = new Sandbox(backend);
      here.file('f', 'old');
      const change = () => fs.writeFileSync(here.host('f'), 'newer');
      const ended = await moving(here, change, 'rename', versionAt(here, 'f'));
      expect(ended).toEqual(['version_mismatch', ['f'], []]);
      expect(here.text('f')).toBe('newer');
    });

    test('takes the expected link only', async () => {
      using here = new Sandbox(backend);
      here.link('old', 'f');
      const change = () => {
        here.link('new', 'other');
        fs.renameSync(here.host('other'), here.host('f'));
      };
      const ended = await moving(here, change, 'rename', versionAt(here, 'f'));
      expect(ended).toEqual(['version_mismatch', ['f -> new'], []]);
    });

    test('takes the expected folder only', async () => {
      using here = new Sandbox(backend);
      here.file('f/a');
      const change = () => fs.chmodSync(here.host('f'), 0o711);
      const ended = await moving(here, change, 'progress', versionAt(here, 'f'));
      expect(ended).toEqual(['version_mismatch', ['f/', 'f/a'], []]);
    });

    test('does not lose a folder that has taken the place of the moved one', async () => {
      using here = new Sandbox(backend);
      here.file('f/a', 'old');
      const change = () => {
        fs.renameSync(here.host('f'), here.host('aside'));
        here.file('f/a', 'new');
      };
      const ended = await moving(here, change, 'progress');
      // Where folders are known by their path, the new one is read, which differs from the copied one.
      expect(ended).toEqual(['changed_meanwhile', ['aside/', 'aside/a', 'f/', 'f/a'], []]);
    });

    test('notices a change behind a modification time that was set back', async () => {
      using here = new Sandbox(backend);
      here.file('f', 'old');
      const past = new Date('2020-02-03T04:05:06Z');
      fs.utimesSync(here.host('f'), past, past);
      const change = () => {
        fs.writeFileSync(here.host('f'), 'new');
        fs.utimesSync(here.host('f'), past, past);
      };
      expect(await moving(here, change, 'progress')).toEqual(['changed_meanwhile', ['f'], []]);
      expect(here.text('f')).toBe('new');
    });
  });
});
