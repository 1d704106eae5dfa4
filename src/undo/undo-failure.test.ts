import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { describe, expect, test } from 'vitest';
import { cannotDropPrivileges, runChild, startChild } from '../../tests/support/child.ts';
import { BACKEND_NAMES } from '../fence/index.ts';
import { outcome } from '../fence/sandbox.fixture.ts';
import { FairScheduler } from '../runtime/fair-scheduler.ts';
import { type ApplyOptions, applyUndo } from './apply-undo.ts';
import { isUndoError } from './errors.ts';
import { look, PastBox } from './past-box.fixture.ts';

const OPTIONS: ApplyOptions = { caller: { tool: 'undo' }, durable: false };

/** Options that let something happen before the action with this number, from 0. */
function meanwhile(number: number, work: () => void): ApplyOptions {
  const scheduler = new FairScheduler();
  let turns = 0;
  scheduler.yieldTurn = () => {
    if (turns++ === number) work();
    return undefined;
  };
  return { ...OPTIONS, scheduler };
}

/** Lists what this process has open below a folder. */
function openBelow(folder: string): string[] {
  const open = fs.readdirSync('/proc/self/fd').map((fd) => {
    try {
      return fs.readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return '';
    }
  });
  return open.filter((path) => path.startsWith(folder));
}

describe.each(BACKEND_NAMES)('%s', (backend) => {
  const start = async () => {
    const past = new PastBox(backend);
    past.box.file('log', 'one\n');
    for (const name of ['a', 'b', 'c', 'd/x']) past.box.file(name, 'one');
    await past.append('log', 'two\n');
    for (const name of ['a', 'b', 'c']) await past.write(name, 'two');
    await past.move('d', 'e');
    await past.append('log', 'three\n');
    await past.write('new/file', 'two');
    return past;
  };

  test('if something is changed after an undo was planned, nothing is done', async () => {
    using past = await start();
    const plan = past.plan();
    fs.writeFileSync(past.box.host('a'), 'foreign');
    const before = past.look();
    expect(await outcome(applyUndo(plan, OPTIONS))).toBe('undo_conflict');
    past.expectSame(before);
    expect(past.conflicts()).toEqual(['changed_since a']);
  });

  test.each(Array.from({ length: 10 }, (_, at) => at))(
    'if something is changed before action %s of an undo, all of it is taken back',
    async (number) => {
      using past = await start();
      const before = past.look();
      const plan = past.plan();
      expect(plan.actions.length).toBe(8);
      const options = meanwhile(number, () => {
        fs.rmSync(past.box.host('log'));
        past.box.file('log', 'foreign');
      });
      const failure = await applyUndo(plan, options).catch((error: unknown) => error);
      if (number >= 8) return;
      // Action 2 has cut the file, which cannot be taken back any more if the file is gone.
      const isIncomplete = isUndoError(failure, 'undo_incomplete') && failure.details.paths;
      expect(isIncomplete).toEqual(number > 2 ? ['log'] : false);
      past.expectSame({ ...before, log: past.look().log as never });
      expect(past.box.text('log')).toBe('foreign');
    },
  );

  test('nothing stays open after an undo, nor after one that failed', async () => {
    using past = await start();
    past.history.log.writeMarks();
    await past.undo();
    await past.undo({ limit: 1 });
    await past.history.log.flush();
    const before = openBelow(past.box.inside);
    await past.undo();
    await past.undo({ limit: 1 });
    const plan = past.plan();
    fs.writeFileSync(past.box.host('a'), 'foreign');
    const now = past.look();
    // Its later steps would keep what they replace where its earlier ones have taken from.
    expect(await outcome(applyUndo(plan, OPTIONS))).toBe('undo_conflict');
    past.expectSame(now);
    // The log is still being flushed to disk at the beginning.
    expect(openBelow(past.box.inside).length).toBeLessThanOrEqual(before.length);
  });

  test('what could not be taken back of a failed undo is named', async () => {
    using past = await start();
    const plan = past.plan();
    const options = meanwhile(5, () => {
      // The undo has reverted c by now, and not yet a.
      fs.writeFileSync(past.box.host('c'), 'foreign');
      fs.writeFileSync(past.box.host('a'), 'foreign');
    });
    const failure = await applyUndo(plan, options).catch((error: unknown) => error);
    expect(isUndoError(failure, 'undo_incomplete') && failure.details.paths).toEqual(['c']);
    expect([past.box.text('a'), past.box.text('c')]).toEqual(['foreign', 'foreign']);
  });

  test('an undo that is killed anywhere is settled, and the rest can be taken back, or it again', async () => {
    using past = new PastBox(backend);
    for (const name of ['a', 'b', 'd/x']) past.box.file(name, 'one');
    const before = past.look();
    for (let round = 0; round < 40; round += 1) {
      await past.write(round % 2 === 0 ? 'a' : 'b', `round ${round}`);
      await past.append('log', `round ${round}\n`);
      await past.write(`new${round}/file`, 'new');
      await past.move(`new${round}`, `moved${round}`);
      await past.remove(`moved${round}/file`);
    }
    const after = past.look();
    const child = startChild(
      `const { History } = await from('history/index.js');
      const { applyUndo, planUndo, selectChanges } = await from('undo/index.js');
      const history = History.open(root);
      const plan = planUndo(history, history.root, selectChanges(history, {}));
      answer(plan.actions.length);
      await applyUndo(plan, { caller: { tool: 'undo' }, durable: false });
      answer('done');`,
      { folder: past.box.inside, fence: backend },
    );
    await once(child.stdout as NodeJS.ReadableStream, 'data');
    const deadline = Date.now() + 10_000;
    while (past.box.exists('moved39') && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 1));
    child.kill('SIGKILL');
    await once(child, 'close');
    expect(past.conflicts()).toEqual([]);
    await past.undo();
    past.expectSame(before);
    await past.undo({ limit: 1 });
    const killed = past.changes.length > 201 ? past.changes.slice(200, 201) : [];
    if (killed.length > 0 && past.plan({ ids: killed }).actions.length > 0) await past.undo({ ids: killed });
    past.expectSame(after);
  }, 30_000);
});

/** Works in a folder of its own as nobody, takes it back, and answers with what was wrong. */
const AS_NOBODY = `
const { History } = await from('history/index.js');
const { applyUndo, planUndo, selectChanges } = await from('undo/index.js');
const history = History.open(root);
const context = () => ({ ...DEFAULT_CONTEXT, caller: { tool: 'test' } });
const durable = { durable: false };
const outcomes = {
  replace: await outcome(writeFile(root, path('f'), Buffer.from('two'), durable, context())),
  append: await outcome(writeFile(root, path('setgid'), Buffer.from('two'), { ...durable, mode: 'append' }, context())),
  secret: await outcome(removeFile(root, path('secret'), durable, context())),
  // Neither is possible without history either.
  filledReadOnly: await outcome(removeFolder(root, path('ro'), durable, context())),
  moveReadOnly: await outcome(move(at('ro2'), at('new/place'), durable, context())),
  emptyReadOnly: await outcome(removeFolder(root, path('empty'), durable, context())),
  copy: await outcome(copy(at('d'), at('copy'), durable, context())),
  copyReadOnly: await outcome(copy(at('ro3'), at('copy3'), durable, context())),
};
const plan = planUndo(history, history.root, selectChanges(history, {}));
const undone = await outcome(applyUndo(plan, { caller: { tool: 'undo' }, ...durable }));
answer({ outcomes, conflicts: plan.conflicts, undone });
`;

test.skipIf(cannotDropPrivileges)(
  `a user without privileges gets everything back (${cannotDropPrivileges ?? 'as nobody'})`,
  async () => {
    for (const backend of BACKEND_NAMES) {
      using past = new PastBox(backend);
      const { box } = past;
      box.file('f', 'one', 0o640);
      box.file('setgid', 'one', 0o2755);
      box.file('secret', 'one', 0o000);
      for (const name of ['ro', 'ro2', 'ro3']) {
        box.file(`${name}/x`, 'x', 0o400);
        box.folder(`${name}/empty`, 0o555);
        box.folder(name, 0o555);
      }
      box.file('d/x', 'x', 0o444);
      box.folder('empty', 0o555);
      fs.rmSync(box.host('.ringfence'), { recursive: true });
      spawnSync('chown', ['-R', '65534:65534', box.inside]);
      fs.chmodSync(box.host('setgid'), 0o2755);
      const before = look(box.inside);
      const answer = await runChild<Record<string, unknown>>(AS_NOBODY, {
        folder: box.inside,
        unprivileged: true,
        fence: backend,
      });
      expect(answer).toMatchObject({ conflicts: [], undone: 'ok' });
      expect(answer.outcomes).toMatchObject({ replace: 'ok', append: 'ok', secret: 'ok', copy: 'ok' });
      expect(answer.outcomes).toMatchObject({ copyReadOnly: 'ok', emptyReadOnly: 'ok' });
      past.expectSame(before);
    }
  },
);

const TINY = spawnSync('sh', ['-c', 'd=$(mktemp -d) && mount -t tmpfs none $d && umount $d && rmdir $d']);
test.skipIf(TINY.status !== 0)(
  `a full disk in the middle of an undo leaves everything as it was (${TINY.status === 0 ? 'tmpfs' : 'cannot mount'})`,
  async () => {
    const under = fs.mkdtempSync('/tmp/ringfence-tiny-');
    spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'none', under]);
    try {
      using past = new PastBox('openat2', {}, under);
      past.box.file('log', 'one\n');
      past.box.file('f', 'one');
      await past.append('log', 'x'.repeat(500_000));
      await past.write('f', 'two');
      const undo = await past.undo();
      fs.writeFileSync(`${under}/filler`, 'x'.repeat(1_200_000));
      const before = past.look();
      expect(await outcome(past.undo({ ids: [undo.change ?? ''] }))).toBe('disk_full');
      past.expectSame(before);
      fs.rmSync(`${under}/filler`);
      await past.undo({ ids: [undo.change ?? ''] });
      expect(past.box.text('log').length).toBe(500_004);
    } finally {
      spawnSync('umount', ['-l', under]);
      fs.rmdirSync(under);
    }
  },
);

test('an undo that fails at its start leaves what the history keeps, also where it was to keep something itself', async () => {
  using past = new PastBox('openat2');
  past.box.file('f', 'one');
  await past.write('f', 'two');
  await past.undo({ limit: 1 });
  await past.undo({ limit: 1 });
  const [, undone, redone] = past.changes as [string, string, string];
  // The first action takes from the place that the second one keeps something at.
  const plan = past.plan({ ids: [undone, redone] });
  expect(plan.actions.map(({ from, keep }) => [from, keep])).toEqual([
    [plan.actions[1]?.keep, plan.actions[1]?.from],
    [plan.actions[0]?.keep, plan.actions[0]?.from],
  ]);
  past.box.file('f', 'newer');
  await expect(applyUndo(plan, { caller: { tool: 'undo' }, durable: false })).rejects.toThrow('undo_conflict');
  past.box.file('f', 'two');
  await past.undo({ ids: [redone] }, { force: true });
  expect(past.box.text('f')).toBe('one');
});
