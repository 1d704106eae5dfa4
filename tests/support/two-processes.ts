import { once } from 'node:events';
import fs from 'node:fs';
import readline from 'node:readline';
import { describe, expect, test } from 'vitest';
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
  await replaceText(root, path('f'), { oldText: who + number(i), newText: who + number(i + 1) }, fast);
}
answer('done');`;

const APPEND = `
for (let i = 1; i <= 10 * n; i += 1) await writeFile(root, path('f'), Buffer.from('+' + number(i) + '\\n'), { ...fast, mode: 'append' });
answer('done');`;

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
  describe.each(['openat2', 'procfd'])('%s', (fence) => {
    const run = async (box: Sandbox, ...scripts: readonly [string, string]): Promise<void> => {
      const children = scripts.map((script, index) =>
        startChild(TOGETHER + script, { folder: box.inside, fence, args: ['ab'.charAt(index), String(count)] }),
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

    test('a file that must be absent is created by one of them, and removed by the one that created it', async () => {
      using box = new Sandbox('openat2');
      await run(box, TAKE_TURNS, TAKE_TURNS);
      expect(fs.readFileSync(box.host('log')).length).toBe(2 * count);
      expect(box.tree()).toEqual(['log']);
    });
  });
}
