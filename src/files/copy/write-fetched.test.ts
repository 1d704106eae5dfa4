import fs from 'node:fs';
import { expect, test } from 'vitest';
import { parseCallerPath } from '../../fence/index.ts';
import { onEveryBackend, outcome } from '../../fence/sandbox.fixture.ts';
import { DEFAULT_CONTEXT } from '../../runtime/operation-context.ts';
import { writeFetchedFile, writeFetchedFolder } from './write-fetched.ts';

const SOURCE = parseCallerPath('docs/a.md');
const TREE = {
  folders: [['sub'], ['sub', 'empty']],
  files: [
    { names: ['a'], bytes: Buffer.from('A') },
    { names: ['sub', 'b'], bytes: Buffer.from([0, 0xff]) },
  ],
};

onEveryBackend((open) => {
  test('a file is written to the destination or into it, and replaces an existing file', async () => {
    using box = open();
    box.folder('d');
    box.file('old', 'old');
    const place = (to: string) =>
      writeFetchedFile(SOURCE, Buffer.from('new'), { root: box.root, path: parseCallerPath(to) }, DEFAULT_CONTEXT, {
        durable: true,
      });
    expect(await place('old')).toBe('old');
    expect(await place('d')).toBe('d/a.md');
    expect(await place('x/y/z')).toBe('x/y/z');
    for (const file of ['old', 'd/a.md', 'x/y/z']) expect(box.text(file)).toBe('new');
  });

  test('a folder is written with its content, and merges with an existing one', async () => {
    using box = open();
    box.file('there/docs/kept', 'kept');
    box.file('there/docs/a', 'old');
    const source = parseCallerPath('docs');
    const place = (to: string) =>
      writeFetchedFolder(source, TREE, { root: box.root, path: parseCallerPath(to) }, DEFAULT_CONTEXT);
    expect(await place('new')).toBe('new');
    expect(await place('there')).toBe('there/docs');
    for (const folder of ['new', 'there/docs']) {
      expect(box.text(`${folder}/a`)).toBe('A');
      expect(fs.readFileSync(box.host(folder, 'sub/b'))).toEqual(Buffer.from([0, 0xff]));
      expect(fs.readdirSync(box.host(folder, 'sub/empty'))).toEqual([]);
    }
    expect(box.text('there/docs/kept')).toBe('kept');
  });

  test('nothing is written outside the root, whatever the names', async () => {
    using box = open();
    fs.symlinkSync(box.outside, box.host('out'));
    box.file('f');
    const to = (raw: string) => ({ root: box.root, path: parseCallerPath(raw) });
    const folder = (names: string[], raw = 'new') => {
      const tree = { folders: [], files: [{ names, bytes: Buffer.from('x') }] };
      return outcome(writeFetchedFolder(parseCallerPath('docs'), tree, to(raw), DEFAULT_CONTEXT));
    };
    expect(await folder(['..', '..', 'x'])).toBe('outside_root');
    expect(await folder(['x'], 'out')).toBe('outside_root');
    expect(await folder(['x'], 'f')).toBe('not_directory');
    const file = writeFetchedFile(SOURCE, Buffer.from('x'), to('out/x'), DEFAULT_CONTEXT, { durable: false });
    expect(await outcome(file)).toBe('outside_root');
    expect(fs.readdirSync(box.outside)).toEqual(['secret']);
  });
});
