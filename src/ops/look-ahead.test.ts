import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { outcome } from '../../tests/support/sandbox.ts';
import { type Dir, parseCallerPath, Root } from '../fence/index.ts';
import { UNCONTROLLED } from './control.ts';
import { listFirst, listFolder } from './list-folder.ts';
import { LookPart } from './look-part.ts';
import { SearchPool } from './search/pool.ts';
import type { WorkerThread } from './search/worker-thread.ts';

const COUNT = 6_000;
const HERE = parseCallerPath('.');
const top = fs.mkdtempSync(path.join(os.tmpdir(), 'look-ahead-'));
const broken = { brief: () => expect.fail('broken') } as unknown as Dir;
let root: Root;
let pool: SearchPool;
/** What was given to another thread, if there was one. */
const asked: { part: LookPart; thread: WorkerThread | undefined }[] = [];

/** A pool with one thread, which does as told with what it is given. */
function poolOf(thread: Pick<WorkerThread, 'hasEnded'>, given: (part: LookPart) => void): SearchPool {
  const lookAt: SearchPool['lookAt'] = (request) => {
    given(new LookPart(request.part));
    return thread as WorkerThread;
  };
  return { lookAt } as SearchPool;
}

beforeAll(async () => {
  for (let number = 0; number < COUNT; number += 1) {
    fs.writeFileSync(path.join(top, `${(number * 7919) % COUNT}-${'x'.repeat(number % 40)}`), 'y'.repeat(number % 100));
  }
  fs.mkdirSync(path.join(top, 'folder'));
  fs.symlinkSync('folder', path.join(top, 'link'));
  fs.writeFileSync(path.join(top, 'größe'), 'z');
  root = Root.open('w', top);
  pool = new SearchPool({ size: 1 });
  const { lookAt } = pool;
  pool.lookAt = (request) => {
    const thread = lookAt.call(pool, request);
    asked.push({ part: new LookPart(request.part), thread });
    return thread;
  };
  // Nobody is there at first, but soon.
  await vi.waitFor(
    async () => {
      await listFirst(root, HERE, { most: COUNT * 2, pool }, UNCONTROLLED);
      expect(asked.at(-1)?.thread).toBeDefined();
    },
    { timeout: 10_000 },
  );
});

afterAll(async () => {
  await pool.close();
  root[Symbol.dispose]();
  fs.rmSync(top, { recursive: true, force: true });
});

describe('a large folder that another thread helps with', () => {
  test('is listed as without one, and every part given away is filled in', async () => {
    const alone = await listFolder(root, HERE, UNCONTROLLED);
    expect(alone).toHaveLength(COUNT + 3);
    asked.length = 0;
    const { entries, count } = await listFirst(root, HERE, { most: COUNT * 2, pool }, UNCONTROLLED);
    expect(entries).toEqual(alone);
    expect(count).toBe(COUNT + 3);
    expect(asked.length).toBeGreaterThan(2);
    for (const { part, thread } of asked) {
      expect(thread).toBeDefined();
      expect(part.at(0)).toEqual(expect.objectContaining({ type: expect.any(String) }));
    }
  });

  test('with too many entries only the first are told, and none is left to the other', async () => {
    const parts: LookPart[] = [];
    const idle = poolOf({ hasEnded: false }, (part) => void parts.push(part));
    const { entries, count } = await listFirst(root, HERE, { most: 2_000, pool: idle }, UNCONTROLLED);
    expect(entries).toEqual((await listFolder(root, HERE, UNCONTROLLED)).slice(0, 2_000));
    expect(count).toBe(COUNT + 3);
    expect(parts.length).toBeGreaterThan(0);
    for (const part of parts) expect(part.take()).toBe(false);
  });

  test('may be given up, and nothing is left to the other', async () => {
    const parts: LookPart[] = [];
    const idle = poolOf({ hasEnded: false }, (part) => void parts.push(part));
    const stopped = { signal: AbortSignal.abort(), progress: () => {} };
    expect(await outcome(() => listFirst(root, HERE, { most: COUNT * 2, pool: idle }, stopped))).toBe('cancelled');
    expect(parts.length).toBeGreaterThan(0);
    for (const part of parts) expect(part.take()).toBe(false);
  });

  test('is listed by one thread alone where the other ended in the middle of its work', async () => {
    const ended = poolOf({ hasEnded: true }, (part) => void part.take());
    const { entries } = await listFirst(root, HERE, { most: COUNT * 2, pool: ended }, UNCONTROLLED);
    expect(entries).toEqual(await listFolder(root, HERE, UNCONTROLLED));
  });

  test('is listed by one thread alone where the other could not look', async () => {
    const failing = poolOf({ hasEnded: false }, (part) => {
      part.take();
      expect(() => part.fill(broken)).toThrow('broken');
    });
    const { entries } = await listFirst(root, HERE, { most: COUNT * 2, pool: failing }, UNCONTROLLED);
    expect(entries).toEqual(await listFolder(root, HERE, UNCONTROLLED));
  });

  test('is listed by one thread alone where there is no other', async () => {
    const closed = new SearchPool({ size: 1 });
    await closed.close();
    const { entries } = await listFirst(root, HERE, { most: COUNT * 2, pool: closed }, UNCONTROLLED);
    expect(entries).toHaveLength(COUNT + 3);
  });
});

describe('a part', () => {
  test('belongs to the first who takes it', () => {
    const part = LookPart.of(['folder', 'gone']);
    const other = new LookPart(part.shared);
    expect([other.take(), part.take(), other.take()]).toEqual([true, false, false]);
  });

  test('shows others what was found, and what is gone', async () => {
    const part = LookPart.of(['folder', 'gone', 'link']);
    part.take();
    const other = new LookPart(part.shared);
    await other.wait(1);
    expect(other.isFilled).toBe(false);
    using dir = root.openDir(HERE);
    part.fill(dir);
    await other.wait(1);
    expect(other.isFilled).toBe(true);
    expect([0, 1, 2].map((at) => other.at(at)?.type)).toEqual(['directory', undefined, 'symlink']);
    expect(other.at(0)).toEqual(dir.brief('folder'));
  });

  test('that could not be filled in is for another to try', () => {
    const part = LookPart.of(['folder']);
    part.take();
    expect(() => part.fill(broken)).toThrow('broken');
    expect([part.isFilled, part.hasFailed]).toEqual([false, true]);
    using dir = root.openDir(HERE);
    part.takeOver();
    part.fill(dir);
    expect(part.isFilled).toBe(true);
  });

  test('that was given up is filled in no further', () => {
    const part = LookPart.of(['folder', 'link']);
    part.take();
    const seen: string[] = [];
    const watched = {
      brief: (name: string) => {
        seen.push(name);
        part.giveUp();
      },
    } as unknown as Dir;
    part.fill(watched);
    expect(seen).toEqual(['folder']);
    expect(part.take()).toBe(false);
  });
});
