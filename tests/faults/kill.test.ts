import { once } from 'node:events';
import fs from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseCallerPath, temporaryName } from '../../src/fence/index.ts';
import { memory, Sandbox } from '../../src/fence/sandbox.fixture.ts';
import { listFolder } from '../../src/files/list/list-folder.ts';
import { sweepLeftovers } from '../../src/files/sweep/sweep-leftovers.ts';
import { DEFAULT_CONTEXT } from '../../src/runtime/operation-context.ts';
import { type ChildOptions, cannotDropPrivileges, startChild } from '../support/child.ts';

const KILLS = 40;
const SIZE = 1024 * 1024;

/** Waits until a child has said that it is at work, lets it work for a moment, then kills it. */
async function killWhileWorking(script: string, options: ChildOptions, ms: number): Promise<void> {
  const child = startChild(script, options);
  if (child.stdout === null) throw new Error('no output');
  await once(child.stdout, 'data');
  await new Promise((resolve) => setTimeout(resolve, ms));
  child.kill('SIGKILL');
  await once(child, 'close');
}

const visible = async (box: Sandbox) =>
  (await listFolder(box.root, parseCallerPath('.'), DEFAULT_CONTEXT)).map((entry) => entry.name);
const temporary = (box: Sandbox) => fs.readdirSync(box.inside).filter((name) => name.startsWith('.ringfence-tmp-'));

describe('a process that is killed', () => {
  test(`${KILLS} times while overwriting leaves the old or the new file, and only hidden leftovers`, async () => {
    using box = new Sandbox('openat2', memory());
    box.file('f', 'a'.repeat(SIZE));
    const script = `
      const contents = ['a', 'b', 'c', 'd'].map((letter) => Buffer.alloc(${SIZE}, letter));
      answer('ready');
      for (let i = 0; ; i += 1)
        await writeFile(root, path('f'), contents[i % 4], { mode: 'overwrite', durable: i % 2 === 0 });`;
    // Two at once, so that a kill may also hit one while the other writes.
    const kill = async (first: number) => {
      for (let i = first; i < KILLS; i += 2) {
        await killWhileWorking(script, { folder: box.inside }, (i * 7) % 23);
        const content = fs.readFileSync(box.host('f'));
        expect(content.length).toBe(SIZE);
        expect(content.equals(Buffer.alloc(SIZE, content[0]))).toBe(true);
      }
    };
    await Promise.all([0, 1].map(kill));
    const left = temporary(box);
    expect(left.length).toBeGreaterThan(0);
    expect(await visible(box)).toEqual(['f']);

    const ours = temporaryName();
    box.file(ours, 'in use');
    expect(await sweepLeftovers(box.root, DEFAULT_CONTEXT.signal)).toBe(left.length);
    expect(fs.readdirSync(box.inside).sort()).toEqual([ours, 'f'].sort());
  });

  test('while copying a folder leaves no part of it to see, and the rest is swept', async () => {
    using box = new Sandbox('openat2');
    for (let i = 0; i < 400; i += 1) box.file(`d/${i % 20}/${i}`, 'x'.repeat(5000));
    // Stands still in the middle of the copy, so that the kill is sure to hit it there.
    const script = `
      const { writeSync } = await import('node:fs');
      let calls = 0;
      const progress = () => {
        calls += 1;
        if (calls !== Number(args[0])) return;
        writeSync(1, 'ready');
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      };
      await copy(at('d'), at('e'), { durable: false }, { ...DEFAULT_CONTEXT, progress });`;
    for (const call of ['1', '100', '799']) {
      await killWhileWorking(script, { folder: box.inside, args: [call] }, 0);
      expect(await visible(box)).toEqual(['d']);
    }
    const left = temporary(box);
    expect(left).toHaveLength(3);
    expect(await sweepLeftovers(box.root, DEFAULT_CONTEXT.signal)).toBe(3);
    expect(fs.readdirSync(box.inside)).toEqual(['d']);
  });

  test.skipIf(cannotDropPrivileges)(
    `in another container is swept only then, while it copies before (${cannotDropPrivileges ?? 'as root'})`,
    async () => {
      using box = new Sandbox('openat2');
      for (let i = 0; i < 4; i += 1) box.file(`d/${i}`, 'x');
      const script = `
        const { writeSync } = await import('node:fs');
        const progress = () => {
          writeSync(1, 'ready');
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
        };
        await copy(at('d'), at('e'), { durable: false }, { ...DEFAULT_CONTEXT, progress });`;
      const child = startChild(script, { folder: box.inside, pidNamespace: true });
      if (child.stdout === null) throw new Error('no output');
      await once(child.stdout, 'data');
      expect(await sweepLeftovers(box.root, DEFAULT_CONTEXT.signal)).toBe(0);
      expect(temporary(box)).toHaveLength(1);
      child.kill('SIGKILL');
      await once(child, 'close');
      await expect.poll(() => sweepLeftovers(box.root, DEFAULT_CONTEXT.signal)).toBe(1);
      expect(fs.readdirSync(box.inside)).toEqual(['d']);
    },
  );

  test('does not take the temporary files of a living one with it', async () => {
    using box = new Sandbox('openat2');
    const script = `
      const { temporaryName } = await from('fence/index.js');
      const fs = await import('node:fs');
      fs.writeFileSync(folder + '/' + temporaryName(), 'in use');
      answer('ready');
      setInterval(() => {}, 1000);`;
    const child = startChild(script, { folder: box.inside });
    if (child.stdout === null) throw new Error('no output');
    await once(child.stdout, 'data');
    expect(await sweepLeftovers(box.root, DEFAULT_CONTEXT.signal)).toBe(0);
    expect(temporary(box)).toHaveLength(1);
    child.kill('SIGKILL');
    await once(child, 'close');
    expect(await sweepLeftovers(box.root, DEFAULT_CONTEXT.signal)).toBe(1);
    expect(box.tree()).toEqual([]);
  });
});
