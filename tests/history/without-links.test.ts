import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { BACKEND_NAMES, type BackendName, chooseBackend, DEFAULT_RULES, Root } from '../../src/fence/index.ts';
import { outcome } from '../../src/fence/sandbox.fixture.ts';
import { listFolder } from '../../src/files/list/list-folder.ts';
import { readFile } from '../../src/files/read/read-file.ts';
import { removeFile } from '../../src/files/remove/remove-entry.ts';
import { removeFolder } from '../../src/files/remove/remove-folder.ts';
import { writeFile } from '../../src/files/write/write-file.ts';
import { History, type HistoryNotice, pastSteps } from '../../src/history/index.ts';
import { applyUndo, type PastChange, planUndo, selectChanges } from '../../src/undo/index.ts';
import { cannotMountExfat, type ExfatDisk, mountExfat } from '../support/exfat-disk.ts';

const reason = cannotMountExfat === undefined ? '' : ` (skipped: ${cannotMountExfat})`;
describe.skipIf(cannotMountExfat !== undefined)(`a file system without hard links and modes${reason}`, () => {
  let disk: ExfatDisk;
  beforeAll(() => {
    disk = mountExfat();
  });
  afterAll(() => disk[Symbol.dispose]());
  beforeEach(() => {
    for (const name of fs.readdirSync(disk.folder)) fs.rmSync(path.join(disk.folder, name), { recursive: true });
  });

  const opened = (backend: BackendName) => Root.open('r', disk.folder, chooseBackend(backend), DEFAULT_RULES);
  const write = (root: Root, name: string, text: string) =>
    writeFile(root, root.parse(name), Buffer.from(text), { durable: false });

  test('files are kept by copying, which is said, and removed ones by renaming', async () => {
    using root = opened('openat2');
    using history = History.open(root);
    const notices: HistoryNotice[] = [];
    history.onNotice = (notice) => notices.push(notice);
    await write(root, 'd/f', 'one');
    await write(root, 'd/f', 'two');
    await write(root, 'g', 'three');
    await removeFile(root, root.parse('g'), { durable: false });
    await removeFolder(root, root.parse('d'), { durable: false });
    const kept = [...pastSteps(history)].flatMap(({ step, done }) => (step.kept && done ? [step.kept] : []));
    const shown = kept.map((place) => {
      const host = path.join(disk.folder, '.ringfence/kept', place);
      return fs.statSync(host).isDirectory() ? fs.readdirSync(host) : fs.readFileSync(host, 'utf8');
    });
    expect(shown).toEqual([['f'], 'three', 'one']);
    expect(notices).toEqual([{ kind: 'copied', path: 'd/f' }]);
    // It is the same history after the next start.
    using again = History.open(root);
    expect([...pastSteps(again)]).toHaveLength(6);
  });

  test.each(BACKEND_NAMES)(
    'what was replaced or removed is brought back, and nothing is replaced by that (%s)',
    async (backend) => {
      using root = opened(backend);
      using history = History.open(root);
      for (const text of ['one', 'two']) await write(root, 'f', text);
      await write(root, 'g', 'three');
      await removeFile(root, root.parse('g'), { durable: false });
      const [removed, created, replaced] = selectChanges(history, {});
      const undo = (change: PastChange | undefined) =>
        outcome(
          applyUndo(planUndo(history, root, change ? [change] : []), { caller: { tool: 'undo' }, durable: false }),
        );
      fs.writeFileSync(path.join(disk.folder, 'g'), 'newer');
      expect(await undo(removed)).toBe('undo_conflict');
      expect(fs.readFileSync(path.join(disk.folder, 'g'), 'utf8')).toBe('newer');
      fs.rmSync(path.join(disk.folder, 'g'));
      expect(await undo(removed)).toBe('ok');
      expect(await undo(replaced)).toBe('ok');
      expect(['f', 'g'].map((name) => fs.readFileSync(path.join(disk.folder, name), 'utf8'))).toEqual(['one', 'three']);
      expect(await undo(created)).toBe('ok');
      expect(fs.readdirSync(disk.folder).sort()).toEqual(['.ringfence', 'f']);
    },
  );

  test.each(BACKEND_NAMES)('no spelling of the name of the history is a way to it (%s)', async (backend) => {
    using root = opened(backend);
    using _history = History.open(root);
    await write(root, 'f', 'one');
    await write(root, 'f', 'two');
    for (const name of ['.ringfence', '.RINGFENCE', '.Ringfence', '.ringFENCE'])
      for (const below of ['', '/log', '/LOG/00000001', '/kept', '/.gitignore']) {
        const at = root.parse(name + below);
        expect([name + below, await outcome(readFile(root, at))]).toEqual([name + below, 'not_found']);
        expect([name + below, await outcome(listFolder(root, at))]).toEqual([name + below, 'not_found']);
        expect([name + below, await outcome(write(root, name + below, 'x'))]).toEqual([name + below, 'not_allowed']);
      }
    expect((await listFolder(root, root.parse('.'))).map(({ name }) => name)).toEqual(['f']);
  });
});
