import fs from 'node:fs';
import { expect, test, vi } from 'vitest';
import { FenceError, parseCallerPath, ROOT_PATH } from '../../fence/index.ts';
import { onEveryBackend, outcome, Sandbox } from '../../fence/sandbox.fixture.ts';
import { insertText, patchFile, replaceText } from './edit-file.ts';

const FAST = { durable: false };
/** A time in milliseconds, longer than any rewrite takes. */
const NEVER_MS = 60_000;
const LINES = 100_000;
/** The content of a file that is large enough to be edited on a worker thread. */
const large = (first = 'line 0') =>
  `${first}\n${Array.from({ length: LINES }, (_, index) => `line ${index + 1} of a large file\n`).join('')}`;

const change = (from: string, to: string) => `--- a/f\n+++ b/f\n@@ -1 +1 @@\n-${from}\n+${to}\n`;
const patch = ({ root }: Sandbox, raw: string, text: string, signal?: AbortSignal) =>
  patchFile(root, parseCallerPath(raw), text, signal === undefined ? FAST : { ...FAST, signal });

onEveryBackend((open) => {
  test('a large file is patched and edited with the same result as a small one', async () => {
    using box = open();
    box.file('f', large(), 0o640);
    expect(await patch(box, 'f', change('line 0', 'patched'))).toEqual({
      hunks: [{ line: 1 }],
      diff: expect.any(String),
      version: expect.any(String),
    });
    expect(box.text('f') === large('patched')).toBe(true);
    const path = parseCallerPath('f');
    const replaced = await replaceText(box.root, path, { oldText: 'patched', newText: 'replaced' }, FAST);
    expect(replaced.line).toBe(1);
    expect(box.text('f') === large('replaced')).toBe(true);
    const inserted = await insertText(box.root, path, { after: LINES + 1, text: 'end', as: 'lines' }, FAST);
    expect(inserted.line).toBe(LINES + 2);
    expect(inserted.content.equals(fs.readFileSync(box.host('f')))).toBe(true);
    expect(box.text('f') === `${large('replaced')}end\n`).toBe(true);
    expect([box.mode('f'), box.tree()]).toEqual(['640', ['f']]);
  });
});

test('a large file can be patched to a short one', async () => {
  using box = new Sandbox('procfd');
  box.file('f', `one\n${'x'.repeat(2_000_000)}\n`);
  await patch(box, 'f', `@@ -1,2 +1 @@\n one\n-${'x'.repeat(2_000_000)}\n`);
  expect(box.text('f')).toBe('one\n');
});

test('a large patch creates a missing file', async () => {
  using box = new Sandbox('procfd');
  const lines = Array.from({ length: LINES }, (_, index) => `line ${index}\n`);
  const text = `--- /dev/null\n+++ b/f\n@@ -0,0 +1,${LINES} @@\n${lines.map((line) => `+${line}`).join('')}`;
  expect(await patch(box, 'd/f', text)).toEqual({
    hunks: [{ line: 1 }],
    diff: expect.any(String),
    version: expect.any(String),
  });
  expect(box.text('d/f') === lines.join('')).toBe(true);
});

test('an edit fails with the same error on the worker thread as on this one', async () => {
  using box = new Sandbox('procfd');
  box.file('f', large());
  const { ino, mtimeMs } = fs.statSync(box.host('f'));
  await expect(patch(box, 'f', change('line X', 'x'))).rejects.toMatchObject({
    code: 'patch_failed',
    details: { problem: 'hunk 1 does not match at line 1: expected "line X", found "line 0"', hunk: 1, line: 1 },
    path: 'f',
    root: box.root.name,
  });
  const replacement = { oldText: 'line 7', newText: '' };
  await expect(replaceText(box.root, parseCallerPath('f'), replacement, FAST)).rejects.toMatchObject({
    code: 'text_not_unique',
    details: { count: 11_111, lines: expect.arrayContaining([8, 71]) },
  });
  expect(fs.statSync(box.host('f'))).toMatchObject({ ino, mtimeMs });
  expect(box.tree()).toEqual(['f']);
});

test('a hunk search that exceeds the work limit continues on a worker thread', async () => {
  using box = new Sandbox('procfd');
  box.file('f', 'a\nb\n'.repeat(4_000));
  const text = `@@ -1 +1 @@\n${' a\n b\n'.repeat(100)} a\n-a\n`;
  const problem = 'hunk 1 does not match at line 202: expected "a", found "b"';
  await expect(patch(box, 'f', text)).rejects.toMatchObject({ code: 'patch_failed', details: { problem } });
});

test.runIf(process.platform === 'linux')(
  'concurrent rewrites of large files all succeed, with one worker thread at a time',
  async () => {
    using box = new Sandbox('procfd');
    const names = ['a', 'b', 'c', 'd'];
    for (const name of names) box.file(name, large('new'));
    await patch(box, 'a', change('new', 'line 0'));
    const before = countThreads();
    let most = before;
    const watch = setInterval(() => {
      most = Math.max(most, countThreads());
    }, 2);
    await Promise.all(names.map((name) => patch(box, name, change(name === 'a' ? 'line 0' : 'new', `file ${name}`))));
    clearInterval(watch);
    expect(most - before).toBeLessThanOrEqual(1);
    for (const name of names) expect(box.text(name) === large(`file ${name}`)).toBe(true);
    expect(box.tree()).toEqual(names);
  },
);

test('a concurrent change to a large file is not lost', async () => {
  using box = new Sandbox('procfd');
  box.file('f', large());
  const patching = patch(box, 'f', change('line 0', 'patched'));
  // By now the file is open and not replaced yet.
  await new Promise((resolve) => setImmediate(resolve));
  fs.appendFileSync(box.host('f'), 'appended\n');
  expect(box.text('f').startsWith('line 0')).toBe(true);
  await patching;
  expect(box.text('f') === `${large('patched')}appended\n`).toBe(true);
});

test('large rewrites in one folder do not wait for each other in a circle, also if one has to be repeated', async () => {
  using box = new Sandbox('procfd');
  box.file('a', large());
  box.file('b', large('0'));
  // Another program changes `a` again and again, so that its rewrite comes to lock the folder.
  const disturbing = setInterval(() => fs.appendFileSync(box.host('a'), 'appended\n'), 2);
  try {
    const repeated = outcome(patch(box, 'a', change('line 0', 'patched')));
    for (let turn = 0; turn < 10; turn += 1) {
      expect(await outcome(patch(box, 'b', change(String(turn), String(turn + 1))))).toBe('ok');
      if (turn === 7) clearInterval(disturbing);
    }
    expect(await repeated).toBe('ok');
  } finally {
    clearInterval(disturbing);
  }
  expect([box.text('a').startsWith('patched\n'), box.text('b').startsWith('10\n')]).toEqual([true, true]);
  expect(box.tree()).toEqual(['a', 'b']);
});

test('a rewrite that found no folder to lock locks the one it creates', async () => {
  using box = new Sandbox('procfd');
  using dir = box.root.openDir(ROOT_PATH);
  const dirs = Object.getPrototypeOf(dir) as typeof dir;
  const { renameNoReplace } = dirs;
  const locked: boolean[] = [];
  const spy = vi.spyOn(dirs, 'renameNoReplace').mockImplementation(function (this: typeof dir, ...args) {
    locked.push(box.exists('d/.ringfence-tmp-lock'));
    if (locked.length === 6) return renameNoReplace.apply(this, args);
    fs.rmSync(box.host('d'), { recursive: true });
    throw new FenceError('already_exists', {});
  });
  try {
    await patch(box, 'd/f', '@@ -0,0 +1 @@\n+new\n');
  } finally {
    spy.mockRestore();
  }
  expect(locked).toEqual(Array(6).fill(true));
  expect(box.tree()).toEqual(['d/', 'd/f']);
});

test('a rewrite cancelled at any moment leaves the file complete, and no thread or temporary file', async () => {
  using box = new Sandbox('procfd');
  box.file('f', large('0'));
  await patch(box, 'f', change('0', '1'));
  const threads = countThreads();
  let now = 1;
  const seen = new Set<string>();
  for (const delay of [0, 2, 10, 30, 60, 100, 200, NEVER_MS]) {
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), delay);
    const ended = await outcome(patch(box, 'f', change(String(now), String(now + 1)), stop.signal));
    clearTimeout(timer);
    seen.add(ended);
    if (ended === 'ok') now += 1;
    expect(box.text('f') === large(String(now)), `after ${delay} ms: ${ended}`).toBe(true);
    expect(box.tree()).toEqual(['f']);
    expect(countThreads()).toBeLessThanOrEqual(threads);
  }
  expect([...seen].sort()).toEqual(['cancelled', 'ok']);
});

test('a rewrite of a large file cancelled beforehand does not start', async () => {
  using box = new Sandbox('procfd');
  box.file('f', large());
  expect(await outcome(patch(box, 'f', change('line 0', 'x'), AbortSignal.abort()))).toBe('cancelled');
  expect(box.text('f') === large()).toBe(true);
});

function countThreads(): number {
  return process.platform === 'linux' ? fs.readdirSync('/proc/self/task').length : 0;
}
