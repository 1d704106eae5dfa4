import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startServer } from './support/start-server.ts';
import { tempDir } from './support/temp-dir.ts';

const TOP = fileURLToPath(new URL('..', import.meta.url));
const EXAMPLES = fs.readdirSync(path.join(TOP, 'examples')).filter((name) => name.endsWith('.mjs'));
/** What the libraries use of other packages. The protocol, its schemas and the logger are not among it. */
const LIBRARY_DEPENDENCIES = ['@koromix', 'balanced-match', 'brace-expansion', 'minimatch', 're2js'];
const run = promisify(execFile);

let base: string;
/** The package as `npm pack` makes it of a fresh checkout. */
let packed: string;

beforeAll(async () => {
  base = fs.realpathSync(tempDir());
  const checkout = path.join(base, 'checkout');
  const skipped = new Set(['.git', 'node_modules', 'dist', 'coverage'].map((name) => path.join(TOP, name)));
  fs.cpSync(TOP, checkout, { recursive: true, filter: (source) => !skipped.has(source) });
  fs.symlinkSync(path.join(TOP, 'node_modules'), path.join(checkout, 'node_modules'));
  const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', base], { cwd: checkout });
  await run('tar', ['xzf', path.join(base, stdout.trim().split('\n').at(-1) as string), '-C', base]);
  packed = path.join(base, 'package');
}, 120_000);

afterAll(() => fs.rmSync(base, { recursive: true, force: true }));

/** An empty folder with the package and some of its dependencies installed, and the examples in it. */
function project(name: string, dependencies: readonly string[]): string {
  const folder = path.join(base, name);
  const modules = path.join(folder, 'node_modules');
  fs.mkdirSync(modules, { recursive: true });
  fs.cpSync(packed, path.join(modules, 'ringfence'), { recursive: true });
  for (const dependency of dependencies) {
    fs.symlinkSync(path.join(TOP, 'node_modules', dependency), path.join(modules, dependency));
  }
  fs.cpSync(path.join(packed, 'examples'), folder, { recursive: true });
  return folder;
}

describe('the packed package in an empty folder', () => {
  test('its examples are those of the repository', () => {
    expect(EXAMPLES.sort()).toEqual(['fence.mjs', 'search.mjs', 'server.mjs']);
    expect(fs.readdirSync(path.join(packed, 'examples')).sort()).toEqual(EXAMPLES);
  });

  test('every example agrees with the declared types', async () => {
    const folder = project('types', allDependencies());
    const compilerOptions = {
      target: 'ES2023',
      lib: ['ES2023', 'ESNext.Disposable'],
      module: 'NodeNext',
      types: ['node'],
      strict: true,
      allowJs: true,
      checkJs: true,
      noEmit: true,
    };
    fs.writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.mjs'] }));
    const tsc = path.join(TOP, 'node_modules/typescript/bin/tsc');
    const { stdout } = await run(process.execPath, [tsc, '-p', folder]).catch((error) => error);
    expect(stdout).toBe('');
    fs.appendFileSync(path.join(folder, 'fence.mjs'), 'root.parse(1);\n');
    const broken = await run(process.execPath, [tsc, '-p', folder]).catch((error) => error);
    expect(broken.stdout).toContain('fence.mjs');
  }, 60_000);

  test('ringfence/fence confines a program without the protocol being installed', async () => {
    const folder = project('fence', LIBRARY_DEPENDENCIES);
    const { stdout } = await run(process.execPath, ['fence.mjs'], { cwd: folder });
    expect(stdout.split('\n')).toEqual([
      '40 bytes, first line: # Notes',
      'line 2 of 3: to do: the rest',
      'copied 40 bytes to backup',
      'directory backup',
      'directory docs',
      'file log.txt',
      '../../etc/passwd in project: outside_root',
      'way-out/passwd in project: outside_root',
      'text_not_unique: found 4 times',
      'cancelled',
      '',
    ]);
  });

  test('ringfence/search searches on its own threads without the protocol being installed', async () => {
    const folder = project('search', LIBRARY_DEPENDENCIES);
    fs.mkdirSync(path.join(folder, 'notes/old'), { recursive: true });
    fs.writeFileSync(path.join(folder, 'notes/a.md'), 'first\nTODO: this\n');
    fs.writeFileSync(path.join(folder, 'notes/old/b.md'), 'nothing here\n');
    const { stdout } = await run(process.execPath, ['search.mjs', 'notes'], { cwd: folder });
    expect(stdout.split('\n')).toEqual([
      'a.md:2: TODO: this',
      '1 lines in 1 of 2 files',
      '2 Markdown files',
      '1 folders, two levels deep',
      'searched everything',
      'refused: invalid_pattern',
      '',
    ]);
  });

  test('a server of one’s own answers a client, with a tool of its own', async () => {
    const folder = project('server', allDependencies());
    const served = path.join(base, 'served');
    fs.mkdirSync(served);
    fs.writeFileSync(path.join(served, 'a.txt'), 'a');
    await using server = await startServer({ program: path.join(folder, 'server.mjs'), args: [served] });
    const counted = await server.call('count_files', { root: 'served' });
    expect(counted.structured).toEqual({ files: 1 });
    const read = await server.call('read_file', { root: 'served', path: 'a.txt' });
    expect(read.structured).toMatchObject({ content: 'a' });
  });

  test('its command runs', async () => {
    const folder = project('command', allDependencies());
    const { bin, version } = JSON.parse(fs.readFileSync(path.join(packed, 'package.json'), 'utf8'));
    const program = path.join(folder, 'node_modules/ringfence', bin.ringfence);
    expect((await run(process.execPath, [program, '--version'])).stdout.trim()).toBe(version);
  });
});

function allDependencies(): string[] {
  const modules = path.join(TOP, 'node_modules');
  return fs.readdirSync(modules).filter((name) => !name.startsWith('.') && name !== 'ringfence');
}
