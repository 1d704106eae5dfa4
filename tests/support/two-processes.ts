import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import readline from 'node:readline';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Sandbox } from '../../src/fence/sandbox.fixture.ts';
import { startChild } from './child.ts';

/** Waits for the other process, so that both work at the same time, then runs the script. `n` is how much to do. */
const TOGETHER = `
const { readFile, replaceText } = await from('fence.js');
const [who, count] = args;
const n = Number(count);
const fast = { durable: false };
answer('ready');
await new Promise((resolve) => process.stdin.once('data', resolve));
process.stdin.destroy();
const attempt = async (code, work) => {
  for (;;) try { return await work(); } catch (error) { if (error.code !== code) throw error; }
};
const number = (i) => String(i).padStart(6, '0');
`;

/** Increments a counter on a line of the file that both processes increment, and names the version that it read. */
const COUNT_TOGETHER = `
const file = path('f');
for (let i = 0; i < n; i += 1) await attempt('version_mismatch', async () => {
  const { bytes, version } = await readFile(root, file);
  const before = bytes.toString();
  const next = { ...fast, ifMatch: version };
  const [old, now] = [before.trim(), number(Number(before) + 1)];
  // By all ways that a content is replaced.
  if (i % 3 === 0) await writeFile(root, file, Buffer.from(now + '\\n'), next);
  else if (i % 3 === 1) await replaceText(root, file, { oldText: old, newText: now }, next);
  else await patchFile(root, file, '@@ -1 +1 @@\\n-' + old + '\\n+' + now + '\\n', next);
});
answer('done');`;

/** Edits a line of its own, without naming a version. */
const EDIT_OWN_LINE = `
for (let i = 0; i < n; i += 1) {
  const edit = () => replaceText(root, path('f'), { oldText: who + number(i), newText: who + number(i + 1) }, fast);
  await attempt('not_found', edit);
}
answer('done');`;

const APPEND = `
for (let i = 1; i <= 10 * n; i += 1) await writeFile(root, path('f'), Buffer.from('+' + number(i) + '\\n'), { ...fast, mode: 'append' });
answer('done');`;

const MOVE_AND_APPEND = `
for (let i = 1; i <= n; i += 1) {
  await writeFile(root, path('f'), Buffer.from('+' + number(i) + '\\n'), { ...fast, mode: 'append' });
  await move(at('f'), at('g'), fast);
  await move(at('g'), at('f'), fast);
}
answer('done');`;

/** Edits its own line and tells when an edit is done, until it is killed or its input ends. */
const EDIT_FOREVER = `
const { readFile, replaceText } = await from('fence.js');
const { writeSync } = await import('node:fs');
const number = (i) => String(i).padStart(6, '0');
let ended = false;
process.stdin.on('end', () => { ended = true; }).resume();
for (let i; !ended; i += 1) {
  i ??= Number(new RegExp('^' + who + '([0-9]+)', 'm').exec((await readFile(root, path('f'))).bytes.toString())[1]);
  await replaceText(root, path('f'), { oldText: who + number(i), newText: who + number(i + 1) }, { durable: false });
  writeSync(1, i + 1 + '\\n');
  await new Promise(setImmediate);
}`;
const EDIT_UNTIL_KILLED = `const who = 'a';${EDIT_FOREVER}`;
const SURVIVOR = `const who = 'b';${EDIT_FOREVER}`;

/** Collects what a child says it has done. */
function acknowledged(child: ChildProcess): { last: number } {
  const done = { last: 0 };
  let text = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    text = (text + chunk).split('\n').slice(-2).join('\n');
    done.last = Number(text.split('\n')[0]);
  });
  return done;
}

/** Creates the file if it is absent and removes the version that it created, both only once per turn of either process. */
const TAKE_TURNS = `
for (let i = 0; i < n; i += 1) {
  const { stats } = await attempt('version_mismatch', async () => ({
    stats: await writeFile(root, path('f'), Buffer.from(who), { ...fast, ifMatch: 'absent' }),
  }));
  const { versionOf } = await from('files/version.js');
  await writeFile(root, path('log'), Buffer.from(who), { ...fast, mode: 'append' });
  await removeFile(root, path('f'), { ifMatch: versionOf(stats) });
}
answer('done');`;

const number = (i: number): string => String(i).padStart(6, '0');

/** Tests that two processes of this program lose nothing that the other did to the same file, each doing `count` changes. */
export function testTwoProcesses(count: number): void {
  describe.each([
    ['openat2', 'openat2'],
    ['procfd', 'procfd'],
    ['openat2', 'procfd'],
    ['procfd', 'openat2'],
  ])('%s and %s', (...fences) => {
    const run = async (box: Sandbox, ...scripts: readonly [string, string]): Promise<void> => {
      const children = scripts.map((script, index) =>
        startChild(TOGETHER + script, {
          folder: box.inside,
          fence: fences[index] as string,
          args: ['ab'.charAt(index), String(count)],
        }),
      );
      const answers = children.map((child) => {
        const lines: string[] = [];
        const reader = readline.createInterface({ input: child.stdout as NodeJS.ReadableStream });
        reader.on('line', (line) => lines.push(line));
        return { lines, first: once(reader, 'line'), closed: once(child, 'close') };
      });
      await Promise.all(answers.map(({ first }) => first));
      for (const child of children) child.stdin?.write('go\n');
      await Promise.all(answers.map(({ closed }) => closed));
      expect(answers.map(({ lines }) => lines)).toEqual([
        ['"ready"', '"done"'],
        ['"ready"', '"done"'],
      ]);
    };

    test('conflicting changes with if_match: none is lost', async () => {
      using box = new Sandbox('openat2');
      box.file('f', `${number(0)}\n`);
      await run(box, COUNT_TOGETHER, COUNT_TOGETHER);
      expect(box.text('f')).toBe(`${number(2 * count)}\n`);
      expect(box.tree()).toEqual(['f']);
    });

    test('edits of different lines without if_match: none is lost', async () => {
      using box = new Sandbox('openat2');
      box.file('f', `a${number(0)}\nb${number(0)}\n`);
      await run(box, EDIT_OWN_LINE, EDIT_OWN_LINE);
      expect(box.text('f')).toBe(`a${number(count)}\nb${number(count)}\n`);
      expect(box.tree()).toEqual(['f']);
    });

    test('appends beside edits: none is lost', async () => {
      using box = new Sandbox('openat2');
      box.file('f', `a${number(0)}\n`);
      await run(box, EDIT_OWN_LINE, APPEND);
      const appended = Array.from({ length: 10 * count }, (_, index) => `+${number(index + 1)}\n`).join('');
      expect(box.text('f') === `a${number(count)}\n${appended}`).toBe(true);
      expect(box.tree()).toEqual(['f']);
    });

    test('moves to and fro, and appends, beside edits: none is lost', async () => {
      using box = new Sandbox('openat2');
      box.file('f', `a${number(0)}\n`);
      await run(box, EDIT_OWN_LINE, MOVE_AND_APPEND);
      const appended = Array.from({ length: count }, (_, index) => `+${number(index + 1)}\n`).join('');
      expect(box.text('f') === `a${number(count)}\n${appended}`).toBe(true);
      expect(box.tree()).toEqual(['f']);
    });

    test('one is killed again and again: what it was told is done stays done, and the other goes on', async () => {
      using box = new Sandbox('openat2');
      box.file('f', `a${number(0)}\nb${number(0)}\n`);
      const options = { folder: box.inside, args: ['a', '0'] };
      const survivor = startChild(SURVIVOR, { ...options, fence: fences[1] as string });
      onTestFinished(() => void survivor.kill('SIGKILL'));
      const other = acknowledged(survivor);
      for (let kill = 0; kill < count / 50; kill += 1) {
        const child = startChild(EDIT_UNTIL_KILLED, { ...options, fence: fences[0] as string });
        const done = acknowledged(child);
        await once(child.stdout as NodeJS.ReadableStream, 'data');
        await new Promise((resolve) => setTimeout(resolve, 20 + ((kill * 7) % 50)));
        child.kill('SIGKILL');
        await once(child, 'close');
        const [, edits, inFile] = /^a(\d+)\nb(\d+)\n/.exec(box.text('f')) ?? [];
        expect(Number(edits) - done.last).toBeGreaterThanOrEqual(0);
        expect(Number(edits) - done.last).toBeLessThanOrEqual(1);
        // The other is not blocked by what the killed one held.
        await expect.poll(() => other.last, { timeout: 4_000 }).toBeGreaterThan(Number(inFile));
      }
      survivor.stdin?.end();
      await once(survivor, 'close');
      expect(box.text('f')).toContain(`\nb${number(other.last)}\n`);
    });

    test('a file that must be absent is created by one of them, and removed by the one that created it', async () => {
      using box = new Sandbox('openat2');
      await run(box, TAKE_TURNS, TAKE_TURNS);
      expect(fs.readFileSync(box.host('log')).length).toBe(2 * count);
      expect(box.tree()).toEqual(['log']);
    });
  });
}
