import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { Worker } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';
import { cannotDropPrivileges, runChild } from '../../../tests/support/child.ts';
import { isLeftover, temporaryName } from '../../fence/index.ts';
import { onEveryBackend, outcome, Sandbox } from '../../fence/sandbox.fixture.ts';
import { DEFAULT_CONTEXT } from '../../runtime/operation-context.ts';
import { sweepLeftovers } from './sweep-leftovers.ts';

const [, , place = '', pid = ''] = temporaryName().split('-');
/** The pid of a process that has ended. */
const gone = String(spawnSync(process.execPath, ['-e', '']).pid);
const PREFIX = temporaryName().slice(0, temporaryName().indexOf(place));

describe('the owner of a temporary file', () => {
  test('is part of its name', () => {
    const at = (ms: number) => ({ ctimeMs: ms, mtimeMs: ms });
    const now = at(Date.now());
    const before = at(Date.now() - process.uptime() * 1000 - 1000);
    expect(pid).toBe(String(process.pid));
    expect(isLeftover(temporaryName(), now)).toBe(false);
    expect(isLeftover(`${PREFIX}${place}-${gone}-0123abcd`, now)).toBe(true);
    expect(isLeftover(`${PREFIX}${place}-${process.ppid}-0123abcd`, before)).toBe(false);
    // An earlier process with the same pid.
    expect(isLeftover(temporaryName(), before)).toBe(true);
    // Another machine: only the age of the file decides.
    expect(isLeftover(`${PREFIX}00000000-${gone}-0123abcd`, now)).toBe(false);
    expect(isLeftover(`${PREFIX}00000000-${process.pid}-0123abcd`, at(Date.now() - 25 * 3_600_000))).toBe(true);
    expect(isLeftover(PREFIX, now)).toBe(false);
    expect(isLeftover(`${PREFIX}${place}-x-y`, now)).toBe(true);
    expect(isLeftover('f', before)).toBe(false);
  });

  test('is the same in every thread of a process', async () => {
    const script = `
      const { parentPort } = require('node:worker_threads');
      import(${JSON.stringify(new URL('../../../dist/fence/index.js', import.meta.url).href)}).then(({ isLeftover }) =>
        parentPort.postMessage(isLeftover(${JSON.stringify(temporaryName())}, { ctimeMs: Date.now(), mtimeMs: 0 })));`;
    const [answer] = await once(new Worker(script, { eval: true }), 'message');
    expect(answer).toBe(false);
  });

  test('is part of a name that is never used twice', () => {
    expect(new Set(Array.from({ length: 1000 }, temporaryName)).size).toBe(1000);
  });
});

onEveryBackend((open) => {
  const left = (n: number) => `${PREFIX}${place}-${gone}-0123abcd-${n}`;

  test('removes leftover files and folders at any depth, and nothing else', async () => {
    using box = open();
    box.file(left(1));
    box.file(`a/b/${left(2)}`);
    box.file(`a/${left(3)}/deep/f`);
    box.link('../../outside', `a/${left(3)}/out`);
    box.link('../outside/secret', left(4));
    const ours = temporaryName();
    box.file(`a/${ours}/f`);
    box.file('a/b/f');
    expect(await sweepLeftovers(box.root, DEFAULT_CONTEXT.signal)).toBe(4);
    expect(box.tree()).toEqual(['a/', `a/${ours}/`, `a/${ours}/f`, 'a/b/', 'a/b/f'].sort());
    expect(fs.readdirSync(box.outside)).toEqual(['secret']);
    expect(await sweepLeftovers(box.root, DEFAULT_CONTEXT.signal)).toBe(0);
  });

  test('removes all of very many leftovers in one folder', async () => {
    using box = open();
    for (let n = 0; n < 2_500; n += 1) box.file(left(n));
    box.file('f');
    expect(await sweepLeftovers(box.root, DEFAULT_CONTEXT.signal)).toBe(2_500);
    expect(box.tree()).toEqual(['f']);
  });

  test('removes leftovers of another machine after a day', async () => {
    using box = open();
    const [fresh, old] = [`${PREFIX}00000000-1-0123abcd-1`, `${PREFIX}00000000-1-0123abcd-2`];
    for (const name of [fresh, old]) box.file(name);
    const yesterday = new Date(Date.now() - 25 * 3_600_000);
    fs.utimesSync(box.host(old), yesterday, yesterday);
    expect(await sweepLeftovers(box.root, DEFAULT_CONTEXT.signal)).toBe(1);
    expect(box.tree()).toEqual([fresh]);
  });

  test('does not follow links', async () => {
    using box = open();
    fs.writeFileSync(`${box.outside}/${left(1)}`, '');
    box.link('../outside', 'out');
    expect(await sweepLeftovers(box.root, DEFAULT_CONTEXT.signal)).toBe(0);
    expect(fs.readdirSync(box.outside)).toHaveLength(2);
  });

  test('stops when aborted', async () => {
    using box = open();
    box.file(left(1));
    expect(await outcome(sweepLeftovers(box.root, AbortSignal.abort()))).toBe('cancelled');
    expect(box.tree()).toEqual([left(1)]);
  });
});

test.skipIf(cannotDropPrivileges)(
  `folders that may not be entered are skipped (${cannotDropPrivileges ?? 'as nobody'})`,
  async () => {
    using box = new Sandbox('openat2');
    box.folder('a-closed', 0o700);
    box.folder('b', 0o777);
    const name = `${PREFIX}${place}-${gone}-0123abcd-`;
    box.file(`b/${name}1`);
    box.file(`b/${name}2/locked/f`);
    fs.chownSync(box.host(`b/${name}2`), 65534, 65534);
    fs.chownSync(box.host(`b/${name}2/locked`), 65534, 65534);
    fs.chmodSync(box.host(`b/${name}2/locked`), 0o555);
    box.file(`a-closed/${name}3`);
    const swept = await runChild(
      'const alive = setInterval(() => {}, 1000); answer(await sweepLeftovers(root, DEFAULT_CONTEXT.signal)); clearInterval(alive);',
      {
        folder: box.inside,
        unprivileged: true,
      },
    );
    expect(swept).toBe(2);
    expect(box.tree()).toEqual(['a-closed/', `a-closed/${name}3`, 'b/']);
  },
);
