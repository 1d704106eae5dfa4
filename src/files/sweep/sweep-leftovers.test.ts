import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { Worker } from 'node:worker_threads';
import { describe, expect, test, vi } from 'vitest';
import { cannotDropPrivileges, runChild } from '../../../tests/support/child.ts';
import { heldName, isLeftover, leasedName, ROOT_PATH, temporaryName } from '../../fence/index.ts';
import { memory, onEveryBackend, outcome, Sandbox } from '../../fence/sandbox.fixture.ts';
import { DEFAULT_CONTEXT } from '../../runtime/operation-context.ts';
import { sweepLeftovers } from './sweep-leftovers.ts';

const [, , place = '', pid = '', start = ''] = temporaryName().split('-');
/** The pid of a process that has ended. */
const gone = String(spawnSync(process.execPath, ['-e', '']).pid);
const PREFIX = temporaryName().slice(0, temporaryName().indexOf(place));

/** When a process started, as the names have it. */
const startOf = (of: number) => fs.readFileSync(`/proc/${of}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[19];

describe('the owner of a temporary file', () => {
  test('is part of its name', () => {
    using box = new Sandbox('openat2');
    using dir = box.root.openDir(ROOT_PATH);
    expect(pid).toBe(String(process.pid));
    expect(isLeftover(dir, temporaryName())).toBe(false);
    expect(isLeftover(dir, `${PREFIX}${place}-${gone}-${start}-0123abcd`)).toBe(true);
    expect(isLeftover(dir, `${PREFIX}${place}-${process.ppid}-${startOf(process.ppid)}-0123abcd`)).toBe(false);
    // Earlier processes whose pids were used again.
    expect(isLeftover(dir, `${PREFIX}${place}-${process.pid}-${Number(start) - 1}-0123abcd`)).toBe(true);
    expect(isLeftover(dir, `${PREFIX}${place}-${process.ppid}-1-0123abcd`)).toBe(true);
    expect(isLeftover(dir, PREFIX)).toBe(false);
    expect(isLeftover(dir, `${PREFIX}${place}-x-y`)).toBe(true);
    expect(isLeftover(dir, 'f')).toBe(false);
  });

  test('is gone if the machine was started since, unless the file system may be shared with another machine', () => {
    using box = new Sandbox('openat2', memory());
    using dir = box.root.openDir(ROOT_PATH);
    const name = `${PREFIX}00000000${place.slice(8)}-${process.pid}-${start}-0123abcd`;
    expect(isLeftover(dir, name)).toBe(true);
    vi.spyOn(dir, 'isLocal').mockReturnValue(false);
    expect(isLeftover(dir, name)).toBe(false);
  });

  test('is not known to be gone on a file system of several machines, where marks do not reach all containers', () => {
    using box = new Sandbox('openat2', memory());
    using dir = box.root.openDir(ROOT_PATH);
    const name = `${PREFIX}${place.slice(0, 8)}0000m-${process.pid}-${start}-0123abcd`;
    box.file(name);
    expect(isLeftover(dir, name)).toBe(true);
    vi.spyOn(dir, 'isLocal').mockReturnValue(false);
    expect(isLeftover(dir, name)).toBe(false);
  });

  test('on another machine is gone a day after it got the lease on the file', () => {
    using box = new Sandbox('openat2', memory());
    using dir = box.root.openDir(ROOT_PATH);
    vi.spyOn(dir, 'isLocal').mockReturnValue(false);
    const elsewhere = (token: number) => leasedName(dir, 'f', token * 1000).replace(place.slice(0, 8), '00000000');
    expect(isLeftover(dir, elsewhere(Date.now() - 3_600_000))).toBe(false);
    expect(isLeftover(dir, elsewhere(Date.now() - 25 * 3_600_000))).toBe(true);
    // A process of this machine that is still running has it, however old it is.
    expect(isLeftover(dir, leasedName(dir, 'f', 1))).toBe(false);
  });

  test('on another machine keeps a folder that is being moved, whatever its own name is', () => {
    using box = new Sandbox('openat2', memory());
    using dir = box.root.openDir(ROOT_PATH);
    vi.spyOn(dir, 'isLocal').mockReturnValue(false);
    const held = heldName('x-lease-0123456789abcdef-1').replace(place.slice(0, 8), '00000000');
    expect(isLeftover(dir, held)).toBe(false);
  });

  test('is gone as soon as it has ended, even if its parent has not noticed', async () => {
    using box = new Sandbox('openat2');
    using dir = box.root.openDir(ROOT_PATH);
    // The shell becomes a program that never waits for its child.
    const shell = spawn('sh', ['-c', 'sh -c "echo \\$\\$" & exec sleep 60'], { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      const [zombie] = await once(shell.stdout, 'data');
      const name = `${PREFIX}${place}-${Number(zombie)}-${start}-0123abcd`;
      await vi.waitFor(() => expect(isLeftover(dir, name)).toBe(true));
    } finally {
      shell.kill();
    }
  });

  test('is the same in every thread of a process', async () => {
    const script = `
      const { parentPort } = require('node:worker_threads');
      import(${JSON.stringify(new URL('../../../dist/fence/index.js', import.meta.url).href)}).then(({ temporaryName }) =>
        parentPort.postMessage(temporaryName()));`;
    const [answer] = await once(new Worker(script, { eval: true }), 'message');
    expect(answer.split('-').slice(0, 5)).toEqual(temporaryName().split('-').slice(0, 5));
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

  test('keeps what a living process uses, however far the clock has jumped', async () => {
    using box = open();
    // All that can be told from the entry and the clock: made a year ago, before this process started.
    const ours = temporaryName();
    for (const name of [`${ours}/f`, temporaryName()]) box.file(name);
    const lastYear = new Date(Date.now() - 365 * 86_400_000);
    for (const name of fs.readdirSync(box.inside)) fs.utimesSync(box.host(name), lastYear, lastYear);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 365 * 86_400_000 });
    try {
      expect(await sweepLeftovers(box.root, DEFAULT_CONTEXT.signal)).toBe(0);
    } finally {
      vi.useRealTimers();
    }
    expect(box.exists(`${ours}/f`)).toBe(true);
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
