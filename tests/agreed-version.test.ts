import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { Root } from '../src/fence/index.ts';
import { FileError } from '../src/files/errors.ts';
import { DEFAULT_CONTEXT } from '../src/runtime/operation-context.ts';
import { Agreement } from '../src/server/confirm/approve.ts';
import { argumentChecker } from '../src/tools/check-arguments.ts';
import { DIALECTS } from './support/in-process-server.ts';
import { tempDir } from './support/temp-dir.ts';

const here = { root: 'r', path: 'f.txt' };
const ends = { source_root: 'r', source_path: 'f.txt', dest_root: 'r', dest_path: 'g.txt' };

/** Calls that a person agreed to. Each must not be made if what is there is not what the person was asked about. */
const CALLS = [
  ['workspace', 'write_file', { ...here, content: 'x' }],
  ['workspace', 'write_file', { ...here, content: 'x', mode: 'append' }],
  ['workspace', 'edit_file', { ...here, old_text: 'content', new_text: 'x' }],
  ['workspace', 'patch_file', { ...here, patch: '@@ -1 +1 @@\n-content\n+x\n' }],
  ['workspace', 'remove_file', here],
  ['workspace', 'remove_folder', { root: 'r', path: 'd' }],
  ['workspace', 'copy', ends],
  ['workspace', 'copy', { ...ends, dest_path: 'd' }],
  ['workspace', 'move', ends],
  ['memory', 'str_replace', { path: 'f.txt', old_str: 'content', new_str: 'x' }],
  ['memory', 'insert', { path: 'f.txt', insert_line: 1, new_str: 'x' }],
  ['memory', 'delete', { path: 'f.txt' }],
  ['memory', 'delete', { path: 'empty' }],
  ['memory', 'rename', { old_path: 'f.txt', new_path: 'new.txt' }],
  ['classic', 'write', { path: 'f.txt', content: 'x' }],
  ['classic', 'delete', { path: 'f.txt', force: true }],
  ['classic', 'delete', { path: 'd', recursive: true }],
  ['classic', 'copy', { source: 'f.txt', destination: 'g.txt', overwrite: true }],
  ['classic', 'move', { source: 'f.txt', destination: 'g.txt', overwrite: true }],
] as const;

/** The versions of other entries than those that are there, by the entry whose version is wrong. */
const OUTDATED = ['source', 'destination', 'absent'] as const;

test.each(CALLS)('%s %s %j changes nothing but what a person agreed to', async (dialect, name, given) => {
  const folder = tempDir();
  fs.mkdirSync(path.join(folder, 'd'));
  fs.mkdirSync(path.join(folder, 'empty'));
  for (const file of ['f.txt', 'g.txt', 'd/f.txt'])
    fs.writeFileSync(path.join(folder, file), file === 'f.txt' ? 'content\n' : 'other\n');
  const contents = () => fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort().join() + readAll(folder);
  const before = contents();
  using root = Root.open('r', folder);
  const tool = DIALECTS[dialect].tools.find((each) => each.name === name);
  const checked = argumentChecker(tool?.input as never)(given);
  if (tool === undefined || 'problems' in checked) throw new Error('not a call');
  const roots = { boundRoot: () => root, root: () => root, resolveRoot: () => ({ root }) };
  const checks = { require: () => {}, requireWritable: () => {} };
  const run = (agreedVersion: unknown) =>
    tool.run(checked.value, { ...DEFAULT_CONTEXT, durable: false, ...roots, ...checks, agreedVersion } as never);
  const isDestination = (raw: string) => /g\.txt|new\.txt|d\/f\.txt/.test(raw);
  for (const which of OUTDATED) {
    const versionOf = (raw: string) => {
      if (which === 'absent') return 'absent';
      return isDestination(raw) === (which === 'destination') ? 'outdated' : undefined;
    };
    const hasTwoEnds = /^(?:copy|move|rename)$/.test(name);
    if (!hasTwoEnds && which === 'destination') continue;
    // A copy does not change its source.
    if (name === 'copy' && which === 'source') continue;
    const attempt = run(({ path: { segments } }: { path: { segments: string[] } }) => versionOf(segments.join('/')));
    await expect(attempt, which).rejects.toMatchObject({ code: 'version_mismatch' });
    expect([which, contents()]).toEqual([which, before]);
  }
  await run(undefined);
  expect(contents()).not.toBe(before);
  fs.rmSync(folder, { recursive: true });
});

function readAll(folder: string): string {
  const entries = fs.readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return entries.map((entry) => fs.readFileSync(path.join(entry.parentPath, entry.name), 'utf8')).join();
}

test('a change that is no longer the one agreed to is reported as a conflict, other conditions as they are', () => {
  const folder = tempDir();
  using root = Root.open('r', folder);
  const change = { root, path: root.parse('f.txt'), kind: 'replace' } as const;
  const agreement = new Agreement([change], [{ version: 'agreed', state: '', sentence: '' }]);
  const mismatch = (expected: string) =>
    new FileError('version_mismatch', { expected, now: undefined }, { path: 'f.txt' });
  expect(agreement.failureOf(mismatch('agreed'))).toMatchObject({ code: 'changed_meanwhile', path: 'f.txt' });
  expect(agreement.failureOf(mismatch('given'))).toMatchObject({ code: 'version_mismatch' });
  fs.rmSync(folder, { recursive: true });
});
