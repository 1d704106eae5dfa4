import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Root } from '../../src/fence/index.ts';
import { refreshed } from '../../src/files/lease/see-latest.ts';
import { recordFigure } from '../support/figures.ts';
import { cannotRunGluster } from '../support/gluster-volume.ts';
import { noRedis } from '../support/redis.ts';
import { type Replicas, startReplicas } from '../support/replicas.ts';
import type { TestServer } from '../support/start-server.ts';

const reason = cannotRunGluster ?? noRedis;
const ROUNDS = 10;
const SEARCHED_FILES = 8;
const SEARCHING_MS = 3_000;
const at = (file: string) => ({ root: 'shared', path: file });

describe.skipIf(reason !== undefined)(`two replicas (${reason ?? 'GlusterFS, two mounts'})`, () => {
  let replicas: Replicas;
  let a: TestServer;
  let b: TestServer;
  beforeAll(async () => {
    replicas = await startReplicas();
    [a, b] = replicas.servers as [TestServer, TestServer];
  });
  afterAll(() => replicas[Symbol.asyncDispose]());

  test('what a client writes at one replica it reads at the other', { timeout: 120_000 }, async () => {
    let text = 'begin\n';
    await a.ok('write_file', { ...at('f'), content: text });
    let slowestMs = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const [writer, reader] = round % 2 ? [a, b] : [b, a];
      // Both machines have the file in their caches.
      for (const server of [a, b]) await server.ok('read_file', at('f'));
      text += `${round}\n`;
      if (round % 3 === 0) await writer.ok('write_file', { ...at('f'), content: text });
      else if (round % 3 === 1) await writer.ok('write_file', { ...at('f'), content: `${round}\n`, mode: 'append' });
      else
        await writer.ok('edit_file', { ...at('f'), old_text: `${round - 1}\n`, new_text: `${round - 1}\n${round}\n` });
      const started = performance.now();
      expect(await reader.ok('read_file', at('f'))).toMatchObject({ content: text });
      slowestMs = Math.max(slowestMs, performance.now() - started);
      const hash = createHash('sha256').update(text).digest('hex');
      expect(await reader.ok('hash_file', { ...at('f'), algorithm: 'sha256' })).toMatchObject({ hash });
      expect(await reader.ok('stat_file', at('f'))).toMatchObject({ size: text.length });
    }
    recordFigure('GlusterFS: the slowest read after a write at another replica', slowestMs, 'ms');
  });

  test('a machine shows what another one has replaced as soon as it looks again', async () => {
    const [first, second] = replicas.volume.mounts.map((mount) => path.join(mount, 'looked-at')) as [string, string];
    using root = Root.open('second', path.dirname(second));
    fs.writeFileSync(first, 'begin');
    let shown = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      using location = root.locate(root.parse('looked-at'), { follow: true });
      fs.readFileSync(second);
      fs.writeFileSync(`${first}.new`, String(round));
      fs.renameSync(`${first}.new`, first);
      if (refreshed(location)?.ino === fs.statSync(first).ino) shown += 1;
    }
    // Its caches may happen to end meanwhile, but not each time.
    expect(shown).toBeGreaterThan(ROUNDS * 0.7);
  });

  test('what a client has changed at one replica it can change further at the other', {
    timeout: 120_000,
  }, async () => {
    const versionOf = async (file: string): Promise<string> => (await a.ok('stat_file', at(file))).version;
    const hashOf = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`;
    for (let round = 0; round < 3; round += 1) {
      await a.ok('write_file', { ...at('f'), content: 'one' });
      await b.ok('read_file', at('f'));
      await a.ok('remove_file', at('f'));
      await b.ok('write_file', { ...at('f'), content: 'two', mode: 'create_only' });
      await a.ok('read_file', at('f'));
      await b.ok('edit_file', { ...at('f'), old_text: 'two', new_text: 'three' });
      const { diff } = await a.ok('edit_file', { ...at('f'), old_text: 'three', new_text: 'four', dry_run: true });
      expect(diff).toContain('-three');
      await a.ok('write_file', { ...at('f'), content: 'four', if_match: hashOf('three') });
      await b.ok('write_file', { ...at('f'), content: 'five', if_match: await versionOf('f') });
      await a.ok('move', { source_root: 'shared', source_path: 'f', dest_root: 'shared', dest_path: 'g' });
      await b.ok('remove_file', { ...at('g'), if_match: hashOf('five') });
      expect(await a.fails('read_file', at('g'))).toContain('file not found');
    }
  });

  test('a file that one replica has moved or removed is gone at the other, which has just read it', {
    timeout: 120_000,
  }, async () => {
    const changes = {
      edit: (f: string) => b.call('edit_file', { ...at(f), old_text: 'one', new_text: 'two' }),
      append: (f: string) => b.call('write_file', { ...at(f), content: 'two\n', mode: 'append' }),
      'create only': (f: string) => b.call('write_file', { ...at(f), content: 'two\n', mode: 'create_only' }),
      read: (f: string) => b.call('read_file', at(f)),
      stat: (f: string) => b.call('stat_file', at(f)),
    };
    for (const [how, change] of Object.entries(changes)) {
      const [f, to] = [`gone-${how}`, `elsewhere/${how}`];
      await a.ok('write_file', { ...at(f), content: 'one\n' });
      await b.ok('read_file', at(f));
      await a.ok('move', { source_root: 'shared', source_path: f, dest_root: 'shared', dest_path: to });
      const { isError, text } = await change(f);
      if (how === 'append' || how === 'create only') {
        expect(`${how} ${isError} ${text}`).toContain('false');
        expect(fs.readFileSync(path.join(replicas.volume.mounts[0] as string, f), 'latin1')).toBe('two\n');
      } else expect(`${how} ${text}`).toContain('not found');
      expect(await a.ok('read_file', at(to))).toMatchObject({ content: 'one\n' });
    }
    for (let round = 0; round < 3; round += 1) {
      const inside = at(`folder-${round}/inside`);
      await a.ok('write_file', { ...inside, content: 'one\n' });
      await b.ok('read_file', inside);
      await a.ok('remove_folder', at(`folder-${round}`));
      await b.ok('write_file', { ...inside, content: 'two\n', mode: 'create_only' });
      expect(await a.ok('read_file', inside)).toMatchObject({ content: 'two\n' });
    }
  });

  test('what is written below a folder that another replica has just moved does not go along', {
    timeout: 120_000,
  }, async () => {
    for (const [round, mode] of ['overwrite', 'create_only', 'append'].entries()) {
      const [from, to] = [`from-${round}`, `to-${round}`];
      await a.ok('write_file', { ...at(`${from}/f`), content: 'precious' });
      await b.ok('read_file', at(`${from}/f`));
      await a.ok('move', { source_root: 'shared', source_path: from, dest_root: 'shared', dest_path: to });
      const path = mode === 'create_only' ? `${from}/new` : `${from}/f`;
      await b.ok('write_file', { ...at(path), content: 'of the other', mode });
      for (const server of [a, b]) {
        expect(await server.ok('read_file', at(path))).toMatchObject({ content: 'of the other' });
        expect(await server.ok('read_file', at(`${to}/f`))).toMatchObject({ content: 'precious' });
      }
    }
  });

  test('a replica searches while the other replaces files, and no search fails', { timeout: 60_000 }, async () => {
    const files = Array.from({ length: SEARCHED_FILES }, (_, i) => `searched/${i}`);
    for (const file of files) await a.ok('write_file', { ...at(file), content: 'needle\n' });
    const until = performance.now() + SEARCHING_MS;
    const repeat = async (work: () => Promise<unknown>): Promise<number> => {
      let times = 0;
      for (; performance.now() < until; times += 1) await work();
      return times;
    };
    const replace = async (file: string): Promise<unknown> =>
      a.ok('write_file', { ...at(file), content: `needle ${Math.random()}\n` });
    const errors: string[] = [];
    const search = async (): Promise<void> => {
      const { isError, text } = await b.call('grep', { ...at('searched'), pattern: 'needle' });
      if (isError) errors.push(text);
    };
    const [searches] = await Promise.all([
      repeat(search),
      repeat(search),
      ...files.map((file) => repeat(() => replace(file))),
    ]);
    expect(searches).toBeGreaterThan(10);
    expect(errors).toEqual([]);
  });

  test('what was written before Redis was killed is read at the other replica, without it and once it is back', {
    timeout: 60_000,
  }, async () => {
    await a.ok('write_file', { ...at('f'), content: 'begin' });
    for (let round = 0; round < 5; round += 1) {
      await b.ok('read_file', at('f'));
      await a.ok('write_file', { ...at('f'), content: `before ${round}` });
      await replicas.redis.kill();
      expect(await b.ok('read_file', at('f'))).toMatchObject({ content: `before ${round}` });
      await replicas.redis.start();
      expect(await b.ok('read_file', at('f'))).toMatchObject({ content: `before ${round}` });
    }
  });

  test('what another program writes is waited for once, and what is gone is not found', {
    timeout: 60_000,
  }, async () => {
    await a.ok('write_file', { ...at('f'), content: 'by a replica' });
    await b.ok('read_file', at('f'));
    fs.writeFileSync(path.join(replicas.volume.mounts[1] as string, 'f'), 'by a program');
    expect(await b.ok('read_file', at('f'))).toMatchObject({ content: 'by a program' });
    const started = performance.now();
    for (let i = 0; i < 20; i += 1) await b.ok('read_file', at('f'));
    // Less than it would take to wait each time.
    expect(performance.now() - started).toBeLessThan(20 * 500);
    await a.ok('remove_file', at('f'));
    expect(await b.fails('read_file', at('f'))).toContain('file not found');
    // Many at once take no longer than one.
    const paths = Array.from({ length: 12 }, (_, i) => `many-${i}`);
    for (const path of paths) await a.ok('write_file', { ...at(path), content: 'by a replica' });
    for (const path of paths) fs.writeFileSync(`${replicas.volume.mounts[1]}/${path}`, `by a program: ${path}`);
    const begun = performance.now();
    const { files } = await b.ok('read_files', { root: 'shared', paths });
    expect(files.map(({ content }: { content: string }) => content)).toEqual(
      paths.map((path) => `by a program: ${path}`),
    );
    expect(performance.now() - begun).toBeLessThan(paths.length * 1_500);
    // Without Redis, nobody knows what the others wrote, but what is there is read.
    await a.ok('write_file', { ...at('g'), content: 'g' });
    await replicas.redis.kill();
    await sleep(2_000);
    expect(await b.ok('read_file', at('g'))).toMatchObject({ content: 'g' });
  });
});
