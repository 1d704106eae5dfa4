import fs from 'node:fs';
import { describe, expect, test } from 'vitest';
import { BACKEND_NAMES } from '../fence/index.ts';
import { outcome } from '../fence/sandbox.fixture.ts';
import { PastBox } from './past-box.fixture.ts';

/** Makes a tree with links, modes and empty folders. */
function furnish({ box }: PastBox): void {
  box.file('f', 'one\n', 0o640);
  box.file('g', 'gee', 0o444);
  fs.linkSync(box.host('f'), box.host('f2'));
  box.file('d/x', 'ex', 0o600);
  box.file('d/sub/y', Buffer.from([0, 255, 1]));
  box.folder('d/empty', 0o2750);
  box.link('x', 'd/link');
  box.folder('empty', 0o711);
  box.link('nowhere', 'dangling');
  for (const [at, name] of ['f', 'g', 'd/x', 'd/sub/y', 'd/link', 'dangling'].entries()) {
    fs.lutimesSync(box.host(name), 1_000_000_000, 1_500_000_000 + at + 0.123456);
  }
}

describe.each(BACKEND_NAMES)('%s', (backend) => {
  const cases: [what: string, act: (past: PastBox) => Promise<unknown>][] = [
    ['a new file in new folders', (past) => past.write('new/folder/file', 'content')],
    ['a file that was replaced', (past) => past.write('f', 'two')],
    ['a file without write permission that was replaced', (past) => past.write('g', 'two')],
    ['an edit', (past) => past.edit('f', 'one', 'two')],
    ['an append', (past) => past.append('f', 'two\n')],
    ['an append to a new file', (past) => past.append('log', 'two\n')],
    ['a removed file', (past) => past.remove('f')],
    ['a removed link', (past) => past.remove('dangling')],
    ['a removed folder', (past) => past.remove('d')],
    ['a removed empty folder', (past) => past.remove('empty')],
    ['a new folder', (past) => past.makeFolder('p/q')],
    ['a moved file', (past) => past.move('f', 'moved')],
    ['a file that was moved over another', (past) => past.move('d/x', 'g')],
    ['a moved link', (past) => past.move('dangling', 'd/dangling')],
    ['a moved folder', (past) => past.move('d', 'e')],
    ['a copied file', (past) => past.copy('f', 'copy')],
    ['a file that was copied over another', (past) => past.copy('d/x', 'g')],
    ['a copied folder', (past) => past.copy('d', 'e')],
    ['a folder that was merged into another', (past) => past.copy('d', 'empty', { intoFolders: false })],
  ];

  test.each(cases)('%s is taken back exactly, and that again, and that again', async (_, act) => {
    using past = new PastBox(backend);
    furnish(past);
    const before = past.look();
    await act(past);
    const after = past.look();
    expect(after).not.toEqual(before);
    const { change, undone } = await past.undo();
    expect(undone).toBeGreaterThan(0);
    past.expectSame(before);
    const again = await past.undo({ ids: [change ?? ''] });
    past.expectSame(after);
    await past.undo({ ids: [again.change ?? ''] });
    past.expectSame(before);
    expect(past.plan({ ids: past.changes.slice(0, 1) }).actions).toEqual([]);
  });

  test('all of it is taken back in one go', async () => {
    using past = new PastBox(backend);
    furnish(past);
    const before = past.look();
    for (const [, act] of cases) expect(await outcome(act(past))).toMatch(/^(ok|not_found|text_not_found)$/);
    const after = past.look();
    const { change } = await past.undo();
    past.expectSame(before);
    await past.undo({ ids: [change ?? ''] });
    past.expectSame(after);
    await past.undo();
    past.expectSame(before);
  });
});
