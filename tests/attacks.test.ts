import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ERAS } from './support/connections.ts';
import { startServer, type TestServer } from './support/start-server.ts';
import { tempDir } from './support/temp-dir.ts';

const TOP = fileURLToPath(new URL('..', import.meta.url));

let base: string;
let server: TestServer;
const inside = (...names: string[]) => path.join(base, 'Project', ...names);

beforeAll(async () => {
  base = tempDir();
  for (const folder of ['Project', 'project', 'PROJECT']) fs.mkdirSync(path.join(base, folder));
  for (const folder of ['project', 'PROJECT']) fs.writeFileSync(path.join(base, folder, 'secret.txt'), 'the secret');
  fs.symlinkSync(path.join(base, 'project'), inside('absolute'));
  fs.symlinkSync('../PROJECT', inside('relative'));
  const dialects = { workspace: {}, memory: { root: 'Project' }, classic: { root: 'Project' } };
  // The mask of an operator who did not think of it.
  const mask = process.umask(0);
  server = await startServer({ roots: [{ name: 'Project', path: inside() }], config: { dialects } });
  process.umask(mask);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  fs.rmSync(base, { recursive: true });
});

describe('a folder whose name differs in case alone', () => {
  const PATHS = ['../project/secret.txt', '../PROJECT/secret.txt', 'absolute/secret.txt', 'relative/secret.txt'];

  test.each(PATHS)('is another folder: %s', async (file) => {
    await using memory = await server.connect({ dialect: 'memory' });
    await using classic = await server.connect({ dialect: 'classic' });
    for (const { isError, text } of [
      await server.call('read_file', { root: 'Project', path: file }),
      await server.call('write_file', { root: 'Project', path: file, content: 'changed' }),
      await memory.call('view', { path: file }),
      await memory.call('create', { path: `${file}.new`, content: 'x', encoding: 'utf-8' }),
      await classic.call('read', { path: file }),
      await classic.call('write', { path: file, content: 'changed', mode: 'overwrite' }),
    ]) {
      expect([isError, text]).toEqual([true, expect.stringMatching(/outside|path_security|path_validation_error/)]);
    }
    expect(fs.readdirSync(path.join(base, 'project'))).toEqual(['secret.txt']);
    expect(fs.readFileSync(path.join(base, 'project', 'secret.txt'), 'utf8')).toBe('the secret');
  });

  test('is another root', async () => {
    const { isError, text } = await server.call('read_file', { root: 'project', path: 'secret.txt' });
    expect([isError, text]).toEqual([true, expect.stringContaining('project')]);
    expect(text).not.toContain('the secret');
  });
});

test('clients that use the same request ids at once each get their own results', async () => {
  const names = Array.from({ length: 8 }, (_, i) => `client-${i}.txt`);
  for (const name of names) fs.writeFileSync(inside(name), `for ${name}`);
  const clients = await Promise.all(names.map((_, i) => server.connect({ era: ERAS[i % ERAS.length] as 'modern' })));
  const answers = await Promise.all(
    clients.flatMap((client, i) =>
      Array.from({ length: 25 }, async () => {
        const { structured } = await client.call('read_file', { root: 'Project', path: names[i] as string });
        return [names[i], structured.content];
      }),
    ),
  );
  expect(answers.filter(([name, content]) => content !== `for ${name}`)).toEqual([]);
  await Promise.all(clients.map((client) => client[Symbol.asyncDispose]()));
});

test('nobody else may write what the server makes, even without a umask', async () => {
  await using memory = await server.connect({ dialect: 'memory' });
  await using classic = await server.connect({ dialect: 'classic' });
  for (const { isError } of [
    await server.call('write_file', { root: 'Project', path: 'made/by/workspace.txt', content: 'x' }),
    await server.call('write_file', { root: 'Project', path: 'made/appended.txt', content: 'x', mode: 'append' }),
    await server.call('create_folder', { root: 'Project', path: 'made/folder' }),
    await memory.call('create', { path: 'made/memory/file.txt', content: 'x', encoding: 'utf-8' }),
    await classic.call('write', { path: 'made/classic/file.txt', content: 'x', mode: 'create', make_dirs: true }),
    await classic.call('mkdir', { path: 'made/classic/folder' }),
    await classic.call('copy', { source: 'made/classic', destination: 'made/copied', recursive: true }),
  ]) {
    expect(isError).toBe(false);
  }
  const made = fs.readdirSync(inside('made'), { recursive: true, encoding: 'utf8' });
  expect(made.length).toBeGreaterThan(10);
  expect(made.filter((name) => (fs.statSync(inside('made', name)).mode & 0o022) !== 0)).toEqual([]);
});

test('every attack in docs/attacks.md names tests that exist', () => {
  const page = fs.readFileSync(path.join(TOP, 'docs/attacks.md'), 'utf8');
  const rows = page
    .split('\n')
    .filter((line) => /^\| [^-|]/.test(line))
    .slice(1);
  expect(rows.length).toBeGreaterThanOrEqual(8);
  for (const row of rows) {
    let source = '';
    let tests = 0;
    for (const [, file, name] of row.matchAll(/\]\(\.\.\/([^)]+)\)|“([^”]+)”/g)) {
      if (file !== undefined) source = fs.readFileSync(path.join(TOP, file), 'utf8');
      else expect(source, row).toContain(`'${name}'`);
      tests += 1;
    }
    expect(tests, row).toBeGreaterThan(1);
  }
});
