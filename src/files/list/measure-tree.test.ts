import fs from 'node:fs';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { tempDir } from '../../../tests/support/temp-dir.ts';
import { Root } from '../../fence/index.ts';
import { CancelledError, DEFAULT_CONTEXT } from '../../runtime/operation-context.ts';
import { measureTree } from './measure-tree.ts';

const folder = tempDir();
const root = Root.open('r', folder, undefined, { deny: ['*.pem'], protect: [] });
afterAll(() => {
  root.close();
  fs.rmSync(folder, { recursive: true });
});
fs.mkdirSync(path.join(folder, 'a/b'), { recursive: true });
fs.writeFileSync(path.join(folder, 'one'), 'x'.repeat(10));
fs.writeFileSync(path.join(folder, 'a/two'), 'x'.repeat(20));
fs.writeFileSync(path.join(folder, 'a/b/three'), 'x'.repeat(30));
fs.writeFileSync(path.join(folder, 'a/key.pem'), 'x'.repeat(1000));
fs.symlinkSync('a', path.join(folder, 'link'));

async function measure(maxEntries = 100, context = DEFAULT_CONTEXT) {
  using dir = root.openDir(root.parse(''));
  return await measureTree(dir, maxEntries, context);
}

test('counts files at any depth and their bytes, but not what is denied or where links lead', async () => {
  const link = fs.lstatSync(path.join(folder, 'link')).size;
  expect(await measure()).toMatchObject({ files: 4, bytes: 60 + link, isComplete: true });
});

test('stops at a number of entries, and says so', async () => {
  expect(await measure(6)).toMatchObject({ files: 4, isComplete: true });
  expect(await measure(5)).toMatchObject({ files: 3, isComplete: false });
  expect(await measure(0)).toMatchObject({ files: 0, isComplete: false });
});

test('has another version after any change, and the same without one', async () => {
  const { version } = await measure();
  expect((await measure()).version).toBe(version);
  fs.writeFileSync(path.join(folder, 'a/b/three'), 'y'.repeat(31));
  const changed = await measure();
  expect(changed.version).not.toBe(version);
  fs.renameSync(path.join(folder, 'a/b/three'), path.join(folder, 'a/b/four'));
  expect((await measure()).version).not.toBe(changed.version);
});

test('ends when it is cancelled', async () => {
  const signal = AbortSignal.abort(new CancelledError());
  await expect(measure(100, { signal })).rejects.toMatchObject({ code: 'cancelled' });
});
