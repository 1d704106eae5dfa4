import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { TWO_CONNECTIONS } from '../support/connections.ts';
import { startServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';
import { inWorkspace } from '../support/workspace.ts';

const ROOTS = { workspace: ['*'], unlisted: ['read_file'], other: ['*'] };

inWorkspace({ connections: TWO_CONNECTIONS, roots: ROOTS }, (w) => {
  const missing = (path: string, root = 'workspace') => w.fails('read_file', { root, path });

  test('a missing file names up to three neighbours', async () => {
    for (const name of ['src/main.ts', 'src/maid.ts', 'src/mail.ts', 'src/mare.ts', 'src/unrelated']) w.file(name);
    expect(await missing('src/mian.ts')).toBe(
      'file not found: src/mian.ts (root: workspace); did you mean src/main.ts, src/maid.ts, src/mail.ts?',
    );
    expect(await missing('src/zzz')).toBe('file not found: src/zzz (root: workspace)');
    expect(await w.fails('list_folder', { path: 'SRC' })).toBe(
      'directory not found: SRC (root: workspace); did you mean src?',
    );
    expect(await missing('sr')).toBe('file not found: sr (root: workspace)');
    expect(await w.fails('stat_file', { path: 'src/mai.ts' })).toContain('did you mean');
  });

  test('a neighbour may differ in case or in what follows the last dot', async () => {
    for (const name of ['README.md', 'config.yaml', 'a-long-name.test.ts']) w.file(name);
    expect(await missing('readme.md')).toContain('; did you mean README.md?');
    expect(await missing('config.properties')).toContain('; did you mean config.yaml?');
    expect(await missing('a-long-name.test.properties')).toContain('; did you mean a-long-name.test.ts?');
  });

  test('a misspelt folder is corrected in the whole path, if that exists', async () => {
    w.file('packages/core/index.ts');
    expect(await missing('pakages/core/index.ts')).toContain('; did you mean packages/core/index.ts?');
    expect(await missing('pakages/core/none.ts')).toMatch(/; did you mean packages\?$/);
  });

  test('a name that would break up the message is quoted', async () => {
    w.file('line\nbreak');
    expect(await missing('line_break')).toContain('; did you mean "line\\nbreak"?');
  });

  test('a root that does not allow list_folder names no neighbours', async () => {
    w.file('main.ts', '', 'unlisted');
    expect(await missing('mian.ts', 'unlisted')).toBe('file not found: mian.ts (root: unlisted)');
  });

  test('neighbours behind a link that leads outside are not named', async () => {
    w.link('../outside', 'out');
    w.file('secret.txt', '', 'outside');
    expect(await missing('out/secert.txt')).not.toContain('secret.txt');
  });

  test('a path that begins with the name of its root says what to write', async () => {
    w.file('src/a.ts');
    expect(await missing('workspace/src/a.ts')).toBe(
      'file not found: workspace/src/a.ts (root: workspace); paths are relative to the root: write src/a.ts',
    );
    expect(await w.fails('list_folder', { path: '/workspace' })).toMatch(/: write \.$/);
    w.folder('workspace');
    expect(await missing('workspace/src/a.ts')).toBe('file not found: workspace/src/a.ts (root: workspace)');
  });

  test.each([
    ['raed_file', 'read_file'],
    ['readFile', 'read_file'],
    ['list-folder', 'list_folder'],
    ['permision_file', 'permissions_file'],
    ['rename_file', undefined],
    ['move_file', undefined],
    ['find_file', undefined],
    ['delete_folder', undefined],
    ['make_file', undefined],
    ['x'.repeat(10_000), undefined],
  ])('the unknown tool %s means %s', async (name, meant) => {
    const error = await w.server.client.callTool({ name, arguments: {} }).catch((thrown: Error) => thrown);
    expect(error).toBeInstanceOf(Error);
    const hint = /\(did you mean (\w+)\?\)/.exec((error as Error).message)?.[1];
    expect(hint).toBe(meant);
  });
});

// The answers and the log hold host paths that the caller wrote itself, so this server is not checked for holding none.
test('a host path says which root and path to write', async () => {
  const base = tempDir();
  const host = (name: string) => path.join(base, name);
  fs.mkdirSync(host('workspace/src'), { recursive: true });
  fs.mkdirSync(host('other'));
  fs.writeFileSync(host('workspace/src/a.ts'), '');
  await using server = await startServer({
    transport: 'stdio',
    roots: [
      { name: 'workspace', path: host('workspace') },
      { name: 'other', path: host('other'), allowed_tools: ['read_file'] },
    ],
  });
  const fails = (args: Record<string, string>) => server.fails('read_file', args);
  const file = host('workspace/src/a.ts');
  expect(await fails({ root: 'workspace', path: file })).toBe(
    `file not found: ${file} (root: workspace); paths are relative to a root: write root workspace, path src/a.ts`,
  );
  expect(await fails({ root: 'workspace', path: host('other/x') })).toMatch(/write root other, path x$/);
  expect(await fails({ root: host('workspace'), path: 'a.ts' })).toMatch(
    /; paths are relative to a root: write root workspace, path \.$/,
  );
  for (const outside of ['/etc/passwd', base, host('workspace-more/x'), host('workspace/../none')]) {
    expect(await fails({ root: 'workspace', path: outside })).toBe(`file not found: ${outside} (root: workspace)`);
  }
  fs.rmSync(base, { recursive: true });
});
