import fs from 'node:fs';
import { expect, test } from 'vitest';
import { outcome } from '../fence/sandbox.fixture.ts';
import { PastBox } from './past-box.fixture.ts';

test('a failed move over a file leaves the copied folder around it as it was for an undo', async () => {
  using past = new PastBox('openat2');
  past.box.file('from/inside', 'one');
  past.box.folder('full');
  past.box.file('full/entry', 'two');
  await past.copy('from', 'copied');
  expect(await outcome(past.move('full', 'copied/inside'))).not.toBe('ok');
  expect(past.conflicts()).toEqual([]);
  await past.undo();
  expect(past.box.tree().filter((entry) => entry.startsWith('copied'))).toEqual([]);
});

test('a failed move over one name of a file leaves its kept other name as it was', async () => {
  using past = new PastBox('openat2');
  past.box.file('one', 'content');
  fs.linkSync(past.box.host('one'), past.box.host('two'));
  past.box.folder('full');
  past.box.file('full/entry', 'x');
  await past.remove('one');
  expect(await outcome(past.move('full', 'two'))).not.toBe('ok');
  expect(past.conflicts()).toEqual([]);
});

test('writes at the same time to two names of a file leave what is kept of it as it was', async () => {
  using past = new PastBox('openat2');
  past.box.file('file', 'first');
  const before = past.look();
  await Promise.all(Array.from({ length: 8 }, (_, at) => past.write('file', `by ${at}`)));
  expect(past.conflicts()).toEqual([]);
  await past.undo();
  past.expectSame(before);
});

test('an empty folder that a move has replaced is taken back with the move, or after it', async () => {
  using past = new PastBox('openat2');
  past.box.file('other/entry', 'x');
  const before = past.look();
  await past.makeFolder('empty');
  await past.move('other', 'empty');
  expect(past.conflicts()).toEqual([]);
  const [made = '', moved = ''] = past.changes;
  // The system gives freed numbers of inodes away again, so the folder may have the same one when it is made again.
  past.box.folder('filler');
  await past.undo({ ids: [moved] });
  fs.rmdirSync(past.box.host('filler'));
  expect(past.conflicts({ ids: [made] })).toEqual([]);
  await past.undo({ ids: [made] });
  past.expectSame(before);
});
