import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { FileStorage } from '../../src/dialects/memory/file-storage.ts';
import { cannotMount, mountSmall } from '../../src/dialects/memory/memory-mount.fixture.ts';
import { Sandbox, treeOf } from '../../src/fence/sandbox.fixture.ts';
import { cannotDropPrivileges, runChild, startChild } from '../support/child.ts';
import { startServer } from '../support/start-server.ts';

const FULL = { code: 'disk_full', message: 'Insufficient disk space' };

describe(`memory on a full disk${cannotMount ? ` (left out: ${cannotMount})` : ''}`, () => {
  it.skipIf(cannotMount !== undefined)(
    'file-storage-backend/AC-22: answers disk_full and leaves nothing half done',
    async () => {
      using disk = mountSmall(256);
      await using server = await startServer({ dialect: 'memory', env: { BASE_PATH: disk.folder } });
      const old = 'x'.repeat(50_000);
      await server.ok('create', { path: 'a.md', content: `${old}end`, encoding: 'utf-8' });
      const big = 'y'.repeat(300_000);
      const create = { path: 'b.md', content: big, encoding: 'utf-8' };
      expect(await server.fails('create', create)).toEqual({ ...FULL, path: 'b.md' });
      const replace = { path: 'a.md', old_str: 'end', new_str: big };
      expect(await server.fails('str_replace', replace)).toEqual({ ...FULL, path: 'a.md' });
      const insert = { path: 'a.md', insert_line: 1, new_str: big };
      expect(await server.fails('insert', insert)).toEqual({ ...FULL, path: 'a.md' });
      expect(treeOf(disk.folder)).toEqual(['a.md']);
      expect(fs.readFileSync(path.join(disk.folder, 'a.md'), 'utf8')).toBe(`${old}end`);
      await server.ok('str_replace', { path: 'a.md', old_str: 'end', new_str: 'END' });
    },
  );
});

describe(`memory without permission${cannotDropPrivileges ? ` (left out: ${cannotDropPrivileges})` : ''}`, () => {
  it.skipIf(cannotDropPrivileges !== undefined)(
    'answers permission_denied for every tool and changes nothing',
    async () => {
      using box = new Sandbox('procfd');
      box.file('mine.md', 'a', 0o600);
      box.file('readable.md', 'a', 0o644);
      box.folder('locked', 0o700);
      const before = box.tree();
      const script = `
      const { FileStorage } = await from('dialects/memory/file-storage.js');
      const storage = FileStorage.open(folder);
      const error = (work) => work.then(() => 'worked', (thrown) => thrown);
      answer({
        view: await error(storage.view('mine.md')),
        viewLocked: await error(storage.view('locked/x')),
        create: await error(storage.create('new.md', 'x', 'utf-8')),
        replace: await error(storage.str_replace('readable.md', 'a', 'b')),
        insert: await error(storage.insert('readable.md', 1, 'b')),
        delete: await error(storage.delete('readable.md')),
        rename: await error(storage.rename('readable.md', 'moved.md')),
      });
      await storage.close();
    `;
      const denied = (name: string) => ({
        code: 'permission_denied',
        message: `Permission denied: ${name}`,
        path: name,
      });
      expect(await runChild(script, { folder: box.inside, unprivileged: true })).toEqual({
        view: denied('mine.md'),
        viewLocked: denied('locked/x'),
        create: denied('new.md'),
        replace: denied('readable.md'),
        insert: denied('readable.md'),
        delete: denied('readable.md'),
        rename: { code: 'permission_denied', message: 'Permission denied', path: expect.any(String) },
      });
      expect(box.tree()).toEqual(before);
    },
  );
});

describe('memory that is killed while it edits', () => {
  it('file-storage-backend/AC-22: leaves a 1 MB file wholly old or wholly new, and nothing that a listing shows', async () => {
    using box = new Sandbox('procfd');
    const body = 'line of text\n'.repeat(80_000);
    box.file('notes/big.md', `version 0\n${body}`);
    const script = `
      const { FileStorage } = await from('dialects/memory/file-storage.js');
      const storage = FileStorage.open(folder, { durable: false });
      const { content } = await storage.view('notes/big.md');
      let version = Number(content.match(/^version (\\d+)\\n/)[1]);
      answer('editing');
      for (;;) {
        await storage.str_replace('notes/big.md', 'version ' + version + '\\n', 'version ' + (version + 1) + '\\n');
        version += 1;
      }
    `;
    for (let round = 0; round < 8; round += 1) {
      const child = startChild(script, { folder: box.inside });
      const gone = once(child, 'exit');
      if (child.stdout === null) throw new Error('no output');
      expect(await Promise.race([once(child.stdout, 'data').then(String), gone])).toBe('"editing"\n');
      await new Promise((resolve) => setTimeout(resolve, 10 + 13 * round));
      child.kill('SIGKILL');
      await gone;
      const [first, ...rest] = box.text('notes/big.md').split('\n');
      expect(first).toMatch(/^version \d+$/);
      expect(rest.join('\n') === body).toBe(true);
      await using storage = FileStorage.open(box.inside);
      expect(await storage.view('notes')).toEqual({ type: 'directory', entries: ['big.md'] });
    }
    expect(Number(box.text('notes/big.md').match(/^version (\d+)/)?.[1])).toBeGreaterThan(0);
  });
});
