import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type * as Library from '../src/index.ts';
import { tempDir } from './support/server.ts';

const TOP = fileURLToPath(new URL('..', import.meta.url));

/** What a program gets that imports the package by its name. */
async function library(): Promise<typeof Library> {
  const { exports, main } = JSON.parse(fs.readFileSync(path.join(TOP, 'package.json'), 'utf8'));
  expect(exports['.'].default).toBe(main);
  return import(path.join(TOP, exports['.'].default));
}

test('files can be kept without a server', async () => {
  const { FileStorage, StorageError, createMemoryTool } = await library();
  const folder = tempDir();
  {
    await using storage = FileStorage.open(folder);
    await storage.create('notes/a.md', 'hello', 'utf-8');
    await expect(storage.create('notes/a.md', 'again', 'utf-8')).rejects.toBeInstanceOf(StorageError);
    expect(await storage.view('notes/a.md')).toEqual({ type: 'file', content: 'hello', encoding: 'utf-8', size: 5 });
  }
  const memory = createMemoryTool({ root: folder });
  expect(await memory.execute({ command: 'view', path: '/memories/notes/a.md' })).toContain('     1\thello');
  await memory.close();
  fs.rmSync(folder, { recursive: true });
});

test('a server can be put together from its parts', async () => {
  const { chooseBackend, configFromDirs, openLog, openService, startHttp, workspace } = await library();
  const folder = tempDir();
  const service = openService({
    config: configFromDirs([folder]),
    dialect: workspace,
    backend: chooseBackend(),
    logger: openLog('error').logger,
  });
  const http = await startHttp([{ path: '/mcp', service }], { host: '127.0.0.1', port: 0 });
  expect(await (await fetch(`${http.base}/health`)).text()).toBe('ok');
  await http.close(0);
  await service.close();
  fs.rmSync(folder, { recursive: true });
});
