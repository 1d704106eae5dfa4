import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type * as Library from '../src/index.ts';
import { Declarations } from './support/declarations.ts';
import { tempDir } from './support/temp-dir.ts';

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

describe('the declared types', () => {
  const ENTRIES = ['index', 'fence', 'search'];

  test('the check finds a type that is mentioned but not exported', () => {
    const folder = tempDir();
    const write = (name: string, text: string) => fs.writeFileSync(path.join(folder, name), text);
    write('entry.d.ts', "export { type A, f } from './a.js';\n");
    write(
      'a.d.ts',
      "import type { B } from './b.js';\nexport interface A {\n    b?: B;\n}\nexport declare function f(): A;\n",
    );
    write('b.d.ts', 'export type B = string;\n');
    expect(new Declarations().missingExports(path.join(folder, 'entry.d.ts'))).toEqual(['A mentions B of b.d.ts']);
    write('entry.d.ts', "export { type A, f } from './a.js';\nexport type { B } from './b.js';\n");
    expect(new Declarations().missingExports(path.join(folder, 'entry.d.ts'))).toEqual([]);
    fs.rmSync(folder, { recursive: true });
  });

  test.each(ENTRIES)('%s exports every type that its exports mention', (entry) => {
    const declarations = new Declarations();
    const file = path.join(TOP, `dist/${entry}.d.ts`);
    expect(declarations.exportsOf(file).size).toBeGreaterThan(30);
    expect(declarations.missingExports(file)).toEqual([]);
  });
});

describe('the pages about the libraries', () => {
  const examples = ['fence.mjs', 'search.mjs'].map((name) => lines(read(`examples/${name}`)));

  test.each(['docs/library.md', 'src/fence/README.md'])(
    'every JavaScript sample of %s is part of an example',
    (page) => {
      const samples = [...read(page).matchAll(/```js\n([\s\S]*?)```/g)].map(([, sample = '']) => lines(sample));
      expect(samples.length).toBeGreaterThan(1);
      for (const sample of samples) {
        expect(
          examples.some((example) => example.includes(sample)),
          sample,
        ).toBe(true);
      }
    },
  );

  test('every error code is in the table, and no other', () => {
    const declarations = new Declarations();
    const codes = [
      ['fence', 'FenceErrorDetails'],
      ['fence', 'FileErrorDetails'],
      ['search', 'SearchErrorDetails'],
    ].flatMap(([entry, name = '']) => {
      const { text = '' } = declarations.exportsOf(path.join(TOP, `dist/${entry}.d.ts`)).get(name) ?? {};
      return [...text.matchAll(/^ {4}(\w+):/gm)].map(([, code]) => code);
    });
    const rows = read('docs/library.md').matchAll(/^\|(?: `\w+Error`)? \| (`[^|]+`) \|/gm);
    const shown = [...rows].flatMap(([, cell = '']) => cell.replaceAll('`', '').split(', '));
    expect(codes.length).toBeGreaterThan(25);
    expect(shown.sort()).toEqual([...codes, 'cancelled'].sort());
  });

  function read(file: string): string {
    return fs.readFileSync(path.join(TOP, file), 'utf8');
  }

  /** The lines of a program without their indentation, each with its end. */
  function lines(code: string): string {
    return code.replace(/^ +/gm, '');
  }
});
