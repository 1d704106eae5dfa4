import fs from 'node:fs';
import { expect, test } from 'vitest';
import { PastBox } from '../undo/past-box.fixture.ts';
import { hunksOf } from './hunks.ts';
import { takeBackHunks } from './take-back-hunks.ts';

const before = Array.from({ length: 30 }, (_, index) => `line ${index + 1}\n`);
const after = before.with(2, 'THREE\n').with(24, 'TWENTY-FIVE\n');

/** Takes the first hunk back of a file that is something else by now than what was shown. */
async function takeBackFirst(past: PastBox, now: string | undefined) {
  await past.write('f', before.join(''));
  await past.write('f', after.join(''));
  const file = past.box.host('f');
  if (now === undefined) fs.rmSync(file);
  else fs.writeFileSync(file, now);
  const texts = { before, after };
  const hunks = hunksOf(texts).slice(0, 1);
  const options = { caller: { tool: 'review' }, durable: false };
  const taken = await takeBackHunks(past.root, { path: 'f', texts, hunks }, options);
  return { taken, text: fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : undefined };
}

test('what was changed elsewhere in the file since it was shown stays', async () => {
  using past = new PastBox('openat2');
  const now = ['first\n', ...after.with(15, 'by hand\n')].join('');
  const { taken, text } = await takeBackFirst(past, now);
  expect(taken).toEqual({ done: true });
  expect(text).toBe(['first\n', ...before.with(15, 'by hand\n').with(24, 'TWENTY-FIVE\n')].join(''));
  await past.undo({ ids: [past.changes.at(-1) ?? ''] });
  expect(fs.readFileSync(past.box.host('f'), 'utf8')).toBe(now);
});

test('lines that were changed again since are a conflict, and the file stays as it is', async () => {
  using past = new PastBox('openat2');
  const now = after.with(2, 'three again\n').join('');
  expect(await takeBackFirst(past, now)).toEqual({ taken: { done: false, conflicts: [3] }, text: now });
});

test('a file that is gone stays gone', async () => {
  using past = new PastBox('openat2');
  expect(await takeBackFirst(past, undefined)).toEqual({ taken: { done: false, why: 'gone' }, text: undefined });
});
