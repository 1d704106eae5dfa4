import fs from 'node:fs';
import { describe, expect, test } from 'vitest';
import { BACKEND_NAMES, chooseBackend, Root } from '../../fence/index.ts';
import { outcome, type Sandbox } from '../../fence/sandbox.fixture.ts';
import { applyUndo } from '../apply-undo.ts';
import { PastBox } from '../past-box.fixture.ts';
import { selectChanges } from '../past-change.ts';
import { planUndo } from '../plan-undo.ts';

type Work = (past: PastBox, box: Sandbox) => unknown;

describe.each(BACKEND_NAMES)('%s', (backend) => {
  /** What is done by a tool, then by another program, and what an undo says about it. */
  const cases: [what: string, act: Work, foreign: Work, conflicts: string[]][] = [
    [
      'a file was replaced',
      (past) => past.write('f', 'two'),
      (_, box) => {
        fs.rmSync(box.host('f'));
        box.file('f', 'two');
      },
      ['changed_since f'],
    ],
    [
      'a file was written to in place',
      (past) => past.write('f', 'two'),
      (_, box) => fs.appendFileSync(box.host('f'), '!'),
      ['changed_since f'],
    ],
    ['a file was removed', (past) => past.write('f', 'two'), (_, box) => fs.rmSync(box.host('f')), ['missing f']],
    ['a new file was removed', (past) => past.write('n', 'two'), (_, box) => fs.rmSync(box.host('n')), ['missing n']],
    [
      'an appended file was appended to',
      (past) => past.append('f', 'two'),
      (_, box) => fs.appendFileSync(box.host('f'), '!'),
      ['changed_since f'],
    ],
    [
      'a file was made where one was removed',
      (past) => past.remove('f'),
      (_, box) => box.file('f', 'two'),
      ['in_the_way f'],
    ],
    [
      'the folder of a removed file is gone',
      (past) => past.remove('d/x'),
      (_, box) => fs.rmSync(box.host('d'), { recursive: true }),
      ['no_folder d/x'],
    ],
    [
      'the folder of a removed file is a link now',
      (past) => past.remove('d/x'),
      (_, box) => {
        fs.renameSync(box.host('d'), box.host('elsewhere'));
        box.link('elsewhere', 'd');
      },
      ['no_folder d/x'],
    ],
    [
      'something is in a new folder',
      (past) => past.makeFolder('new'),
      (_, box) => box.file('new/file'),
      ['not_empty new'],
    ],
    [
      'something was changed in a copied folder',
      (past) => past.copy('d', 'e'),
      (_, box) => fs.writeFileSync(box.host('e/sub/y'), 'Y'),
      ['changed_since e/sub/y'],
    ],
    [
      'something was added to a copied folder',
      (past) => past.copy('d', 'e'),
      (_, box) => box.file('e/sub/z'),
      ['changed_since e/sub/z'],
    ],
    [
      'a moved file was changed',
      (past) => past.move('f', 'm'),
      (_, box) => fs.writeFileSync(box.host('m'), 'changed'),
      ['changed_since m'],
    ],
    [
      'a file was made where one was moved from',
      (past) => past.move('f', 'm'),
      (_, box) => box.file('f', 'another'),
      ['in_the_way f'],
    ],
    [
      'a file was changed by a later change',
      (past) => past.write('f', 'two'),
      (past) => past.write('f', 'three'),
      ['changed_since f'],
    ],
    [
      'a file in a copied folder was changed by a later change',
      (past) => past.copy('d', 'e'),
      (past) => past.append('e/x', 'three'),
      ['changed_since e/x'],
    ],
  ];

  test.each(cases)('%s: that is named, nothing is done, and force keeps it', async (_, act, foreign, conflicts) => {
    using past = new PastBox(backend);
    const { box } = past;
    box.file('f', 'one');
    box.file('d/x', 'x');
    box.file('d/sub/y', 'y');
    await act(past, box);
    // The clock of the file system ticks every few milliseconds.
    await new Promise((resolve) => setTimeout(resolve, 20));
    const ids = past.changes;
    await foreign(past, box);
    const now = past.look();
    expect(past.conflicts({ ids })).toEqual(conflicts);
    expect(await outcome(past.undo({ ids }))).toBe('undo_conflict');
    past.expectSame(now);
    const { change } = await past.undo({ ids }, { force: true });
    if (change === undefined) past.expectSame(now);
    else {
      await past.undo({ ids: [change] });
      past.expectSame(now);
    }
  });

  test('a change that is in conflict is named together with the one that it is in conflict with', async () => {
    using past = new PastBox(backend);
    past.box.file('f', 'one');
    await past.write('f', 'two');
    await past.write('f', 'three');
    const [first, second] = past.changes as [string, string];
    expect(past.plan({ ids: [first] }).conflicts).toEqual([
      { reason: 'changed_since', path: 'f', change: first, newer: second },
    ]);
    await past.undo({ ids: [second] });
    expect(past.plan({ ids: [first] }).conflicts).toEqual([]);
  });

  test('one conflict refuses the whole undo', async () => {
    using past = new PastBox(backend);
    for (const name of ['a', 'b', 'c']) past.box.file(name, 'one');
    for (const name of ['a', 'b', 'c']) await past.write(name, 'two');
    fs.writeFileSync(past.box.host('b'), 'foreign');
    expect(await outcome(past.undo())).toBe('undo_conflict');
    expect(['a', 'b', 'c'].map((name) => past.box.text(name))).toEqual(['two', 'foreign', 'two']);
    await past.undo({}, { force: true });
    expect(['a', 'b', 'c'].map((name) => past.box.text(name))).toEqual(['one', 'one', 'one']);
  });

  test('what was kept and then changed through another link is noticed, whatever its times', async () => {
    using past = new PastBox(backend);
    const { box } = past;
    for (const name of ['f', 'g', 'd/x', 'd/y']) {
      box.file(name, 'one');
      fs.linkSync(box.host(name), `${box.outside}/${name.replace('/', '-')}`);
    }
    await past.write('f', 'two');
    await past.remove('g');
    await past.remove('d');
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(past.conflicts()).toEqual([]);
    for (const name of ['f', 'g', 'd-x']) {
      const host = `${box.outside}/${name}`;
      const { atime, mtime } = fs.statSync(host);
      fs.writeFileSync(host, 'ONE');
      fs.utimesSync(host, atime, mtime);
    }
    expect(past.conflicts()).toEqual(['kept_was_changed d', 'kept_was_changed g', 'kept_was_changed f']);
    await past.undo({}, { force: true });
    expect(box.text('f')).toBe('ONE');
  });

  test('changes to the other links of a kept file by tools are no conflict', async () => {
    using past = new PastBox(backend);
    const { box } = past;
    box.file('f', 'one');
    fs.linkSync(box.host('f'), box.host('g'));
    fs.linkSync(box.host('f'), box.host('h'));
    const before = past.look();
    await past.write('f', 'two');
    await past.append('g', 'three');
    await past.remove('h');
    await past.write('g', 'four');
    expect(past.conflicts()).toEqual([]);
    // What was kept of f has been appended to since.
    expect(past.conflicts({ ids: past.changes.slice(0, 1) })).toEqual(['kept_was_changed f']);
    await past.undo();
    past.expectSame(before);
  });

  test('what was too large to be kept, or is not kept any more, is said to be so', async () => {
    using past = new PastBox(backend, { maxBytes: 10 });
    past.box.file('large', 'x'.repeat(11));
    past.box.file('small', 'x');
    past.box.file('f', 'one');
    await past.write('large', 'new');
    await past.write('small', 'new');
    await past.write('f', 'two');
    const { step } = selectChanges(past.history, {})[1]?.steps[0] ?? {};
    fs.rmSync(past.box.host('.ringfence/kept', step?.kept ?? ''));
    expect(past.conflicts()).toEqual(['kept_is_gone small', 'not_kept large']);
    const { undone } = await past.undo({}, { force: true });
    expect(undone).toBe(1);
    expect(['large', 'small', 'f'].map((name) => past.box.text(name))).toEqual(['new', 'new', 'one']);
  });

  test('what the rules of a root forbid is not taken back through it', async () => {
    using past = new PastBox(backend);
    past.box.file('f', 'one');
    past.box.file('.env', 'secret');
    past.box.file('d/x', 'x');
    await past.write('f', 'two');
    await past.remove('d');
    await past.write('.env', 'changed');
    const rules = { deny: ['.env'], protect: ['d/x'], readOnly: false };
    using guarded = Root.open('workspace', past.box.inside, chooseBackend(backend), rules);
    const plan = (root: Root, ids: string[]) => planUndo(past.history, root, selectChanges(past.history, { ids }));
    const [write, remove, secret] = past.changes as [string, string, string];
    const reasons = (id: string) => plan(guarded, [id]).conflicts.map(({ reason, path }) => `${reason} ${path}`);
    expect(reasons(secret)).toEqual(['not_allowed .env']);
    expect(reasons(write)).toEqual([]);
    await applyUndo(plan(guarded, [write]), { caller: { tool: 'undo' } });
    expect(past.box.text('f')).toBe('one');
    const work = applyUndo(plan(guarded, [remove]), { caller: { tool: 'undo' } });
    expect(await outcome(work)).toBe('not_allowed');
    expect(past.box.exists('d')).toBe(false);
    await applyUndo(plan(past.history.root, [remove, secret]), { caller: { tool: 'undo' } });
    expect([past.box.text('d/x'), past.box.text('.env')]).toEqual(['x', 'secret']);
    using readOnly = Root.open('workspace', past.box.inside, chooseBackend(backend), { ...rules, readOnly: true });
    expect(plan(readOnly, past.changes).conflicts.every(({ reason }) => reason === 'not_allowed')).toBe(true);
  });
});
