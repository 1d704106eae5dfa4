import fs from 'node:fs';
import { describe, expect, test } from 'vitest';
import { BACKEND_NAMES } from '../fence/index.ts';
import { outcome } from '../fence/sandbox.fixture.ts';
import { PastBox } from './past-box.fixture.ts';
import { selectChanges } from './past-change.ts';
import { diffOfChanges } from './past-diff.ts';
import { type PastMoment, restoreEntry, treeAt } from './restore-entry.ts';

/** The diff of changes as lines: `path: before => after`. */
function diff({ history }: PastBox, ids?: readonly string[], path?: string): string[] {
  return diffOfChanges(history, selectChanges(history, { ids }), { path }).map((each) => {
    const [before, after] = [each.before, each.after].map((entry) => {
      if (entry === undefined) return 'nothing';
      if (entry.type === 'directory') return 'folder';
      return entry.type === 'symlink' ? `-> ${entry.target()}` : JSON.stringify(entry.read().toString());
    });
    return `${each.path}${each.movedFrom === undefined ? '' : ` from ${each.movedFrom}`}: ${before} => ${after}`;
  });
}

describe.each(BACKEND_NAMES)('%s', (backend) => {
  test('what several changes did together is one diff, each change has its own', async () => {
    using past = new PastBox(backend);
    const { box } = past;
    box.file('f', 'one');
    box.file('gone', 'gone');
    box.file('d/x', 'x');
    box.link('x', 'd/l');
    await past.write('f', 'two');
    await past.append('f', ' and more');
    await past.write('f', 'three');
    await past.remove('gone');
    await past.remove('d');
    await past.write('new/file', 'new');
    await past.write('brief', 'x');
    await past.remove('brief');
    expect(diff(past)).toEqual([
      'd: folder => nothing',
      'd/l: -> x => nothing',
      'd/x: "x" => nothing',
      'f: "one" => "three"',
      'gone: "gone" => nothing',
      'new: nothing => folder',
      'new/file: nothing => "new"',
    ]);
    const { changes } = past;
    expect(diff(past, changes.slice(0, 1))).toEqual(['f: "one" => "two"']);
    expect(diff(past, changes.slice(1, 2))).toEqual(['f: "two" => "two and more"']);
    expect(diff(past, changes.slice(2, 3))).toEqual(['f: "two and more" => "three"']);
    expect(diff(past, undefined, 'd')).toHaveLength(3);
    await past.undo();
    expect(diff(past)).toEqual([]);
    expect(diff(past, changes.slice(1, 2))).toEqual(['f: "two" => "two and more"']);
  });

  test('what was moved is shown as such, with what was changed in it', async () => {
    using past = new PastBox(backend);
    past.box.file('d/x', 'x');
    past.box.file('d/y', 'y');
    past.box.file('f', 'f');
    await past.write('d/x', 'changed before');
    await past.move('d', 'e');
    await past.write('e/y', 'changed after');
    await past.move('f', 'g');
    expect(diff(past)).toEqual([
      'e from d: folder => folder',
      'e/x from d/x: "x" => "changed before"',
      'e/y from d/y: "y" => "changed after"',
      'g from f: "f" => "f"',
    ]);
  });

  test('a file is restored as it was at any moment, as a copy, and that can be undone', async () => {
    using past = new PastBox(backend);
    past.box.file('f', 'one\n', 0o640);
    fs.utimesSync(past.box.host('f'), 1e9, 1_234_567_890.123456);
    const first = past.look();
    await past.append('f', 'two\n');
    await past.write('f', 'three\n');
    const last = past.look();
    const [append, write] = past.changes as [string, string];
    const restore = (at: PastMoment, to?: string) =>
      restoreEntry(past.history, past.root, { path: 'f', at, to, caller: { tool: 'restore' }, durable: false });
    await restore({ before: write }, 'new/folder/copy');
    expect(past.box.text('new/folder/copy')).toBe('one\ntwo\n');
    await restore({ after: append });
    expect(past.box.text('f')).toBe('one\ntwo\n');
    await restore({ before: append });
    past.expectSame({ ...past.look(), ...first });
    expect(await outcome(restore({ before: append }, '../f'))).toBe('outside_root');
    await past.undo({ sinceChange: write });
    past.expectSame(last);
    await past.undo();
    past.expectSame(first);
  });

  test('a folder is restored over what is there, with links, modes and times', async () => {
    using past = new PastBox(backend);
    const { box } = past;
    box.file('d/x', 'x', 0o600);
    box.file('d/sub/y', 'y', 0o444);
    box.link('x', 'd/l');
    box.folder('d/sub', 0o2750);
    box.folder('d', 0o711);
    const before = past.look();
    await past.write('d/x', 'changed');
    const [first] = past.changes as [string];
    await past.remove('d/sub');
    await past.write('d/new', 'new');
    const later = past.look();
    const caller = { tool: 'restore' };
    await restoreEntry(past.history, past.root, { path: 'd', at: { before: first }, caller, durable: false });
    past.expectSame(before);
    await past.undo({ limit: 1 });
    past.expectSame(later);
    const missing = restoreEntry(past.history, past.root, { path: 'd/new', at: { before: first }, caller });
    expect(await outcome(missing)).toBe('no_past_entry');
  });

  test('a tree of the past has the content that files had which were changed in place', async () => {
    using past = new PastBox(backend);
    past.box.file('f', 'one');
    fs.linkSync(past.box.host('f'), past.box.host('other'));
    await past.append('f', 'two');
    await past.append('other', 'three');
    const [first, second] = past.changes as [string, string];
    await past.undo();
    await past.append('f', 'four');
    const at = (moment: PastMoment) => treeAt(past.history, moment).lookup('other')?.read().toString();
    expect(at({ before: first })).toBe('one');
    expect(at({ after: first })).toBe('onetwo');
    expect(at({ after: second })).toBe('onetwothree');
    expect(at(Date.now() + 1000)).toBe('onefour');
  });
});
