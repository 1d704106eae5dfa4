import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { BACKEND_NAMES, type BackendName, chooseBackend, Root } from '../../src/fence/index.ts';
import { outcome } from '../../src/fence/sandbox.fixture.ts';
import { copy } from '../../src/files/copy/copy.ts';
import { move } from '../../src/files/copy/move.ts';
import { listFolder } from '../../src/files/list/list-folder.ts';
import { readFile } from '../../src/files/read/read-file.ts';
import { removeFolder } from '../../src/files/remove/remove-folder.ts';
import { makeFolder } from '../../src/files/write/make-folder.ts';
import { writeFile } from '../../src/files/write/write-file.ts';
import { cannotMountExfat as cannotMount, type ExfatDisk, mountExfat } from '../support/exfat-disk.ts';
import { tempDir } from '../support/temp-dir.ts';

const RULES = { deny: ['.env', '/secret', 'größe.txt'], protect: ['**/.git/hooks'] };
const QUICK = { durable: false };

const reason = cannotMount === undefined ? '' : ` (skipped: ${cannotMount})`;
describe.skipIf(cannotMount !== undefined)(`a file system that folds names${reason}`, () => {
  let mounted: ExfatDisk;
  beforeAll(() => {
    mounted = mountExfat();
  });
  afterAll(() => mounted[Symbol.dispose]());
  beforeEach(() => fill(mounted.folder));

  describe.each(BACKEND_NAMES)('%s', (backend) => {
    test('other spellings of a denied name are denied', async () => {
      using root = open(mounted.folder, backend);
      for (const name of ['.env', '.ENV', '.Env', 'SECRET/key', 'Secret/KEY', 'Größe.txt', 'GRÖSSE.TXT', 'GRÖßE.txt'])
        expect([name, await outcome(readFile(root, root.parse(name)))]).toEqual([name, 'not_found']);
      for (const name of ['new/.ENV', 'Secret/new', 'SECRET', '.ENV'])
        expect([name, await outcome(write(root, name))]).toEqual([name, 'not_allowed']);
      for (const name of ['.git/HOOKS/new', '.GIT/hooks/pre-commit', '.Git/Hooks/new'])
        expect([name, await outcome(write(root, name))]).toEqual([name, 'not_allowed']);
      expect((await listFolder(root, root.parse('.'))).map(({ name }) => name).sort()).toEqual([
        '.git',
        'dir',
        'ok.txt',
      ]);
      expect(await outcome(removeFolder(root, root.parse('DIR')))).toBe('not_allowed');
      expect(await outcome(removeFolder(root, root.parse('.GIT')))).toBe('not_allowed');
      expect(await outcome(move({ root, path: root.parse('Dir') }, { root, path: root.parse('moved') }, QUICK))).toBe(
        'not_allowed',
      );
      expect(await outcome(copy({ root, path: root.parse('SECRET') }, { root, path: root.parse('x') }, QUICK))).toBe(
        'not_found',
      );
    });

    test('what is spelt otherwise on the disk is denied, too', async () => {
      const folder = `folder-${backend}`;
      fs.mkdirSync(path.join(mounted.folder, folder));
      fs.writeFileSync(path.join(mounted.folder, folder, '.ENV'), 'x');
      using root = open(mounted.folder, backend);
      expect(await outcome(readFile(root, root.parse(`${folder}/.ENV`)))).toBe('not_found');
      expect(await listFolder(root, root.parse(folder))).toEqual([]);
    });

    test('new names are judged in an empty folder, too', async () => {
      fs.mkdirSync(path.join(mounted.folder, 'empty'));
      using root = open(mounted.folder, backend);
      expect(await outcome(write(root, 'empty/.ENV'))).toBe('not_allowed');
      expect(await outcome(makeFolder(root, root.parse('empty/.Env')))).toBe('not_allowed');
      expect(fs.readdirSync(path.join(mounted.folder, 'empty'))).toEqual([]);
    });
  });
});

describe.each(BACKEND_NAMES)('a file system that tells spellings apart, %s', (backend) => {
  test('only the name as it is written is denied', async () => {
    const folder = tempDir();
    fill(folder);
    using root = open(folder, backend);
    fs.writeFileSync(path.join(folder, '.ENV'), 'another file');
    expect(await outcome(readFile(root, root.parse('.ENV')))).toBe('ok');
    expect(await outcome(write(root, 'dir/.Env'))).toBe('ok');
    expect(await outcome(write(root, '.env'))).toBe('not_allowed');
    expect((await listFolder(root, root.parse('.'))).map(({ name }) => name)).toContain('.ENV');
    fs.rmSync(folder, { recursive: true });
  });
});

function open(folder: string, backend: BackendName): Root {
  return Root.open('r', folder, chooseBackend(backend), RULES);
}

function write(root: Root, name: string) {
  return writeFile(root, root.parse(name), Buffer.from('x'), QUICK);
}

function fill(folder: string): void {
  for (const name of fs.readdirSync(folder)) fs.rmSync(path.join(folder, name), { recursive: true });
  const files = ['ok.txt', '.env', 'dir/.env', 'dir/a', 'secret/key', 'größe.txt', '.git/hooks/pre-commit'];
  for (const name of files) {
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    fs.writeFileSync(path.join(folder, name), 'x');
  }
}
