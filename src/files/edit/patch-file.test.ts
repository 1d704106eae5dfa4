import fs from 'node:fs';
import { describe, expect, test } from 'vitest';
import { cannotDropPrivileges, runChild } from '../../../tests/support/child.ts';
import { parseCallerPath } from '../../fence/index.ts';
import { onEveryBackend, outcome, Sandbox } from '../../fence/sandbox.fixture.ts';
import { patchFile } from './edit-file.ts';

const patch = ({ root }: Sandbox, raw: string, text: string, durable = true) =>
  patchFile(root, parseCallerPath(raw), text, { durable });

const creation = '--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+one\n+two\n';
const change = (from: string, to: string, line = 1) => `--- a/f\n+++ b/f\n@@ -${line} +${line} @@\n-${from}\n+${to}\n`;

onEveryBackend((open) => {
  test('changes a file and keeps its mode and owner', async () => {
    using box = open();
    box.file('f', 'one\ntwo\n', 0o640);
    if (process.getuid?.() === 0) fs.chownSync(box.host('f'), 1234, 5678);
    const { uid, gid } = fs.statSync(box.host('f'));
    expect(await patch(box, 'f', change('two', 'zwei', 2))).toEqual({
      hunks: [{ line: 2 }],
      diff: expect.any(String),
      version: expect.any(String),
    });
    expect([box.text('f'), box.mode('f')]).toEqual(['one\nzwei\n', '640']);
    expect(fs.statSync(box.host('f'))).toMatchObject({ uid, gid });
    expect(box.tree()).toEqual(['f']);
  });

  test('creates a missing file and its parent folders', async () => {
    using box = open();
    expect(await patch(box, 'new/deep/f', creation)).toEqual({
      hunks: [{ line: 1 }],
      diff: expect.any(String),
      version: expect.any(String),
    });
    expect(box.text('new/deep/f')).toBe('one\ntwo\n');
  });

  test('a failed patch changes and creates nothing', async () => {
    using box = open();
    box.file('f', 'one\ntwo\n');
    const { ino, mtimeMs } = fs.statSync(box.host('f'));
    const half = `--- a/f\n+++ b/f\n@@ -1 +1 @@\n-one\n+eins\n@@ -2 +2 @@\n-drei\n+vier\n`;
    expect(await outcome(patch(box, 'f', half))).toBe('patch_failed');
    expect(await outcome(patch(box, 'f', creation))).toBe('patch_failed');
    expect(await outcome(patch(box, 'f', 'not a patch'))).toBe('patch_failed');
    expect(await outcome(patch(box, 'no/such/folder/f', change('one', 'x')))).toBe('patch_failed');
    expect(fs.statSync(box.host('f'))).toMatchObject({ ino, mtimeMs });
    expect(box.tree()).toEqual(['f']);
  });

  test('follows a link that stays inside the root, and no other', async () => {
    using box = open();
    box.file('real/f', 'one\n');
    box.link('real/f', 'l');
    box.link('real/none', 'dangling');
    box.link('../outside/secret', 'out');
    box.link('../outside/none', 'out-dangling');
    await patch(box, 'l', change('one', 'eins'));
    await patch(box, 'dangling', creation);
    expect([box.text('real/f'), box.text('real/none')]).toEqual(['eins\n', 'one\ntwo\n']);
    expect(await outcome(patch(box, 'out', change('secret', 'x')))).toBe('outside_root');
    expect(await outcome(patch(box, 'out-dangling', creation))).toBe('outside_root');
    expect(fs.readdirSync(box.outside)).toEqual(['secret']);
    expect(box.tree()).toContain('l -> real/f');
  });

  test('folders cannot be patched', async () => {
    using box = open();
    box.folder('d');
    expect(await outcome(patch(box, 'd', creation))).toBe('is_directory');
    expect(await outcome(patch(box, '', creation))).toBe('is_directory');
  });

  test('concurrent patches of different lines are all applied or reported as failed', async () => {
    using box = open();
    const count = 30;
    box.file('f', Array.from({ length: count }, (_, i) => `line ${i}\n`).join(''));
    const tries = Array.from({ length: count }, (_, i) =>
      outcome(patch(box, 'f', change(`line ${i}`, `done ${i}`, i + 1))),
    );
    const outcomes = await Promise.all(tries);
    for (const each of outcomes) expect(['ok', 'changed_meanwhile']).toContain(each);
    expect(outcomes).toContain('ok');
    const expected = outcomes.map((each, i) => `${each === 'ok' ? 'done' : 'line'} ${i}\n`);
    expect(box.text('f')).toBe(expected.join(''));
    expect(box.tree()).toEqual(['f']);
  });

  test('a few concurrent patches are all applied', async () => {
    using box = open();
    box.file('f', 'a\nb\nc\nd\ne\n');
    await Promise.all(
      ['a', 'b', 'c', 'd', 'e'].map((line, i) => patch(box, 'f', change(line, line.toUpperCase(), i + 1))),
    );
    expect(box.text('f')).toBe('A\nB\nC\nD\nE\n');
  });

  test('of concurrent creations one succeeds and the others fail', async () => {
    using box = open();
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => outcome(patch(box, 'd/f', creation))));
    expect(outcomes.filter((each) => each === 'ok')).toHaveLength(1);
    expect(outcomes.filter((each) => each === 'patch_failed')).toHaveLength(9);
    expect(box.text('d/f')).toBe('one\ntwo\n');
  });
});

describe('several processes', () => {
  test('a file that another process changes is patched in its new state or not at all', async () => {
    using box = new Sandbox('openat2');
    box.file('f', Array.from({ length: 40 }, (_, i) => `line ${i}\n`).join(''));
    const script = `
      const outcomes = [];
      for (let i = Number(args[0]); i < 40; i += 4) {
        const text = '--- a/f\\n+++ b/f\\n@@ -' + (i + 1) + ' +' + (i + 1) + ' @@\\n-line ' + i + '\\n+done ' + i + '\\n';
        outcomes.push([i, await outcome(patchFile(root, path('f'), text, { durable: true }))]);
      }
      answer(outcomes);`;
    const children = ['0', '1', '2', '3'].map((first) =>
      runChild<[number, string][]>(script, { folder: box.inside, args: [first] }),
    );
    const outcomes = (await Promise.all(children)).flat();
    for (const [, each] of outcomes) expect(['ok', 'changed_meanwhile']).toContain(each);
    const lines = box.text('f').trimEnd().split('\n');
    // Every line is complete, old or new, and no patch reported as failed is in the file.
    expect(lines).toHaveLength(40);
    for (const [i, each] of outcomes) {
      expect(lines[i]).toMatch(new RegExp(`^(line|done) ${i}$`));
      if (each !== 'ok') expect(lines[i]).toBe(`line ${i}`);
    }
    expect(box.tree()).toEqual(['f']);
  });

  test.skipIf(cannotDropPrivileges)(
    `a read-only file is not patched (${cannotDropPrivileges ?? 'as nobody'})`,
    async () => {
      using box = new Sandbox('openat2');
      fs.chmodSync(box.inside, 0o777);
      box.file('f', 'one\n');
      const script = `answer(await outcome(patchFile(root, path('f'), args[0], { durable: true })));`;
      const answer = await runChild(script, { folder: box.inside, args: [change('one', 'eins')], unprivileged: true });
      expect(answer).toBe('permission_denied');
      expect(box.text('f')).toBe('one\n');
      expect(box.tree()).toEqual(['f']);
    },
  );
});

test('with openat2, a patch reported as applied is never lost to another process', async () => {
  using box = new Sandbox('openat2');
  const lines = 60;
  box.file('f', Array.from({ length: lines }, (_, i) => `old ${i}\n`).join(''));
  const script = `
    const done = [];
    for (let i = Number(args[0]); i < ${lines}; i += 3) {
      const text = '@@ -' + (i + 1) + ' +' + (i + 1) + ' @@\\n-old ' + i + '\\n+new ' + i + '\\n';
      if ((await outcome(patchFile(root, path('f'), text, { durable: false }))) === 'ok') done.push(i);
    }
    answer(done);`;
  const runs = ['0', '1', '2'].map((arg) => runChild(script, { folder: box.inside, args: [arg], fence: 'openat2' }));
  const applied = ((await Promise.all(runs)) as number[][]).flat();
  expect(applied.length).toBeGreaterThan(0);
  const now = box.text('f').split('\n');
  expect(applied.filter((i) => now[i] !== `new ${i}`)).toEqual([]);
});
