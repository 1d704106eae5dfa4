import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { expect, test } from 'vitest';
import { cannotDropPrivileges } from '../../../tests/support/child.ts';
import { appendJournalName, parseCallerPath, temporaryName } from '../../fence/index.ts';
import { onEveryBackend, Sandbox } from '../../fence/sandbox.fixture.ts';
import { DEFAULT_CONTEXT } from '../../runtime/operation-context.ts';
import { copy } from '../copy/copy.ts';
import { move } from '../copy/move.ts';
import { replaceText } from '../edit/edit-file.ts';
import { sweepLeftovers } from '../sweep/sweep-leftovers.ts';
import { undoAppends } from './append-journal.ts';
import { writeFile } from './write-file.ts';

const GONE = temporaryName().replace(`-${process.pid}-`, `-${spawnSync(process.execPath, ['-e', '']).pid}-`);
/** What was to be appended, more than a page of it. */
const APPENDED = 'appended '.repeat(1000);

/** Leaves what a process leaves that is killed while it appends: `written` of the bytes in the file, and the journal. */
function tear(box: Sandbox, name: string, written: string, { owner = GONE, top = '.' } = {}): string {
  const host = box.host(top, name);
  const { size: before, ino } = fs.statSync(host);
  fs.appendFileSync(host, written);
  const record = { owner, path: name, ino, before, length: APPENDED.length };
  box.file(`${top}/${appendJournalName(ino)}`, `${JSON.stringify(record)}\n${APPENDED}`);
  return appendJournalName(ino);
}

const append = (box: Sandbox, name: string, text: string) =>
  writeFile(box.root, parseCallerPath(name), Buffer.from(text), { mode: 'append', durable: false });

onEveryBackend((open) => {
  test.each([1, 4096, APPENDED.length - 1])('an append is undone that was killed after %s bytes', async (bytes) => {
    using box = open();
    box.file('a/b/f', 'old');
    tear(box, 'a/b/f', APPENDED.slice(0, bytes));
    expect(await undoAppends(box.root)).toBe(1);
    expect(box.text('a/b/f')).toBe('old');
    expect(box.tree()).toEqual(['a/', 'a/b/', 'a/b/f']);
  });

  test.each([
    ['was complete', APPENDED],
    ['was followed by what another program appended', `${APPENDED.slice(0, 5000)}foreign`],
    ['had not begun when another program appended', 'foreign'],
    ['was complete, and another program appended', `${APPENDED}foreign`],
  ])('nothing is cut off if the append %s', async (_, written) => {
    using box = open();
    box.file('f', 'old');
    tear(box, 'f', written);
    expect(await undoAppends(box.root)).toBe(1);
    expect(box.text('f')).toBe(`old${written}`);
    expect(box.tree()).toEqual(['f']);
  });

  test('a file that was replaced or removed since, or its folder, is let alone', async () => {
    using box = open();
    for (const name of ['replaced', 'removed', 'linked', 'd/f']) {
      box.file(name, 'old');
      tear(box, name, APPENDED.slice(0, 5000));
    }
    fs.rmSync(box.host('removed'));
    fs.rmSync(box.host('d'), { recursive: true });
    fs.renameSync(box.host('replaced'), box.host('elsewhere'));
    box.file('replaced', `old${APPENDED.slice(0, 5000)}`);
    fs.rmSync(box.host('linked'));
    box.link('../outside/secret', 'linked');
    expect(await undoAppends(box.root)).toBe(4);
    expect(box.text('replaced')).toBe(`old${APPENDED.slice(0, 5000)}`);
    expect(box.tree()).toEqual(['elsewhere', 'linked -> ../outside/secret', 'replaced']);
    expect(fs.readFileSync(`${box.outside}/secret`, 'utf8')).toBe('secret');
  });

  test('the append of a living process is let alone, and does not keep others from appending', async () => {
    using box = open();
    box.file('f', 'old');
    const journal = tear(box, 'f', APPENDED.slice(0, 5000), { owner: temporaryName() });
    expect(await undoAppends(box.root)).toBe(0);
    await append(box, 'f', 'more'.repeat(2000));
    expect(box.text('f')).toBe(`old${APPENDED.slice(0, 5000)}${'more'.repeat(2000)}`);
    expect(box.tree()).toEqual([journal, 'f']);
  });

  test('the next append undoes it first', async () => {
    using box = open();
    box.file('d/f', 'old');
    tear(box, 'd/f', APPENDED.slice(0, 5000));
    await append(box, 'd/f', ' new');
    expect(box.text('d/f')).toBe('old new');
    expect(box.tree()).toEqual(['d/', 'd/f']);
  });

  test('the next edit undoes it first', async () => {
    using box = open();
    box.file('f', 'old');
    tear(box, 'f', APPENDED.slice(0, 5000));
    await replaceText(box.root, parseCallerPath('f'), { oldText: 'old', newText: 'new' }, { durable: false });
    expect(box.text('f')).toBe('new');
    expect(box.tree()).toEqual(['f']);
  });

  test('a copy and a move of the file, and a move of its folder, undo it first', async () => {
    using box = open();
    for (const name of ['copied', 'moved', 'd/f']) {
      box.file(name, 'old');
      tear(box, name, APPENDED.slice(0, 5000));
    }
    const at = (name: string) => ({ root: box.root, path: parseCallerPath(name) });
    await copy(at('copied'), at('copy'), { durable: false });
    await move(at('moved'), at('there'), { durable: false });
    await move(at('d'), at('e'), { durable: false });
    expect(['copied', 'copy', 'there', 'e/f'].map((name) => box.text(name))).toEqual(['old', 'old', 'old', 'old']);
    expect(box.tree()).toEqual(['copied', 'copy', 'e/', 'e/f', 'there']);
  });

  test('a sweep undoes that of a root inside this one', async () => {
    using box = open();
    box.file('root/d/f', 'old');
    tear(box, 'd/f', APPENDED.slice(0, 5000), { top: 'root' });
    expect(await sweepLeftovers(box.root, DEFAULT_CONTEXT.signal)).toBe(1);
    expect(box.text('root/d/f')).toBe('old');
  });

  test('a large append keeps the file, its hard links and its mode, and leaves no journal', async () => {
    using box = open();
    box.file('f', 'old', 0o640);
    fs.linkSync(box.host('f'), box.host('g'));
    const { ino } = fs.statSync(box.host('f'));
    await append(box, 'f', 'x'.repeat(9_000_000));
    expect(box.text('g').length).toBe(9_000_003);
    expect(fs.statSync(box.host('f'))).toMatchObject({ ino, nlink: 2, mode: 0o100640 });
    expect(box.tree()).toEqual(['f', 'g']);
  });

  test.runIf(fs.existsSync('/proc/self/io'))(
    'an append to a huge file writes no more than to a small one',
    async () => {
      using box = open();
      fs.truncateSync(box.file('log', ''), 4 * 1024 ** 3);
      const written = () => Number(/^wchar: (\d+)/m.exec(fs.readFileSync('/proc/self/io', 'utf8'))?.[1]);
      const before = written();
      await append(box, 'log', 'x'.repeat(10_000));
      expect(written() - before).toBeLessThan(50_000);
      expect(fs.statSync(box.host('log')).size).toBe(4 * 1024 ** 3 + 10_000);
    },
  );
});

test.skipIf(cannotDropPrivileges)(
  `a journal that another user planted cuts nothing (${cannotDropPrivileges ?? 'as root'})`,
  async () => {
    using box = new Sandbox('openat2');
    box.file('f', 'old');
    const journal = tear(box, 'f', APPENDED.slice(0, 5000));
    fs.chownSync(box.host(journal), 65534, 65534);
    expect(await undoAppends(box.root)).toBe(0);
    expect(box.text('f')).toBe(`old${APPENDED.slice(0, 5000)}`);
  },
);
