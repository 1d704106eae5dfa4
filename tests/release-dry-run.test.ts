import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { getMcpConfigForManifest } from '@anthropic-ai/mcpb';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packageProblems } from '../scripts/release/package-contents.js';
import { tempDir } from './support/temp-dir.ts';

const TOP = fileURLToPath(new URL('..', import.meta.url));
const MCPB = path.join(TOP, 'node_modules/@anthropic-ai/mcpb/dist/cli/cli.js');
const run = promisify(execFile);
const { version } = JSON.parse(fs.readFileSync(path.join(TOP, 'package.json'), 'utf8'));

let base: string;
/** A fresh checkout, committed, without dist/. */
let checkout: string;
let table: string;

const released = (name: string) => path.join(checkout, 'release', name);

beforeAll(async () => {
  base = fs.realpathSync(tempDir());
  checkout = path.join(base, 'checkout');
  const skipped = new Set(['.git', 'node_modules', 'dist', 'release', 'coverage'].map((name) => path.join(TOP, name)));
  fs.cpSync(TOP, checkout, { recursive: true, filter: (source) => !skipped.has(source) });
  fs.symlinkSync(path.join(TOP, 'node_modules'), path.join(checkout, 'node_modules'));
  // The pattern of .gitignore that names a folder does not fit the link.
  fs.appendFileSync(path.join(checkout, '.gitignore'), 'node_modules\n');
  await git('init', '--quiet');
  await git('add', '--all');
  await git('-c', 'user.name=x', '-c', 'user.email=x@localhost', 'commit', '--quiet', '--message', 'x');
  table = (await release()).stdout;
}, 240_000);
afterAll(() => fs.rmSync(base, { recursive: true, force: true }));

const git = (...args: string[]) => run('git', args, { cwd: checkout });
const release = () => run('npm', ['run', '--silent', 'release', '--', '--dry-run'], { cwd: checkout });

/** Starts a server over stdio, as a client does, and reads a file by it. */
async function readBy(command: string, args: readonly string[], cwd: string): Promise<unknown> {
  const client = new Client({ name: 'ringfence-tests', version: '0' });
  await client.connect(new StdioClientTransport({ command, args: [...args], cwd, stderr: 'ignore' }));
  try {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('read_file');
    const result = await client.callTool({ name: 'read_file', arguments: { root: 'notes', path: 'a.txt' } });
    return (result.structuredContent as { content?: unknown }).content;
  } finally {
    await client.close();
  }
}

function notes(): string {
  const folder = path.join(base, 'notes');
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, 'a.txt'), 'content');
  return folder;
}

describe('npm run release -- --dry-run', () => {
  test('does every step and publishes nothing', () => {
    const rows = table
      .trim()
      .split('\n')
      .slice(2)
      .map((row) =>
        row
          .split('|')
          .slice(1, 3)
          .map((cell) => cell.trim()),
      );
    const steps = [
      'clean tree',
      'version',
      'changelog',
      'server.json',
      'build',
      'npm package',
      'bundle',
      'bill of materials',
      'checksums',
    ];
    expect(rows).toEqual([...steps.map((step) => [step, 'ok']), ['publish', 'not done']]);
  });

  test('leaves everything in release/, with checksums', () => {
    const files = [
      `ringfence-${version}.cdx.json`,
      `ringfence-${version}.mcpb`,
      `ringfence-${version}.tgz`,
      'server.json',
    ];
    expect(fs.readdirSync(path.join(checkout, 'release')).sort()).toEqual(['SHA256SUMS', ...files, 'summary.md']);
    const sum = (name: string) =>
      createHash('sha256')
        .update(fs.readFileSync(released(name)))
        .digest('hex');
    expect(fs.readFileSync(released('SHA256SUMS'), 'utf8')).toBe(
      files.map((name) => `${sum(name)}  ${name}\n`).join(''),
    );
  });

  test('says what is wrong', async () => {
    const manifest = path.join(checkout, 'mcpb/manifest.json');
    const before = fs.readFileSync(manifest, 'utf8');
    fs.writeFileSync(manifest, before.replace(version, '9.9.9'));
    const { code, stdout } = await release().catch((error) => error);
    expect(code).toBe(1);
    expect(stdout).toContain('| clean tree | FAILED | not committed: 1 files |');
    expect(stdout).toMatch(/\| version \| FAILED \| .*mcpb\/manifest\.json/);
    await run(process.execPath, ['scripts/version.js'], { cwd: checkout });
    expect(fs.readFileSync(manifest, 'utf8')).toBe(before);
  }, 240_000);
});

test('npm version writes the new version everywhere, and an entry into the changelog', async () => {
  await git('clone', '--quiet', checkout, path.join(base, 'next'));
  const cwd = path.join(base, 'next');
  await run('npm', ['version', '9.9.9', '--no-git-tag-version', '--ignore-scripts=false'], { cwd });
  await run(process.execPath, ['scripts/version.js', '--check'], { cwd });
  const { stdout } = await run('git', ['grep', '--name-only', '--fixed-strings', '9.9.9'], { cwd });
  for (const file of ['CHANGELOG.md', 'mcpb/manifest.json', 'plugin/.mcp.json', 'server.json'])
    expect(stdout).toContain(file);
  expect(fs.readFileSync(path.join(cwd, 'CHANGELOG.md'), 'utf8')).toMatch(/^## \[9\.9\.9\] - \d{4}-\d\d-\d\d$/m);
});

describe('the npm package', () => {
  const contents = { files: [], size: 1, unpackedSize: 1 };

  test.each<[string, object, string]>([
    ['a test', { files: [{ path: 'dist/x.test.js' }] }, 'dist/x.test.js does not belong there'],
    ['a source file', { files: [{ path: 'src/x.ts' }] }, 'src/x.ts does not belong there'],
    ['no program', {}, 'dist/bin.js is missing'],
    ['too much', { size: 10_000_000 }, '10000000 bytes are more than'],
    ['too much unpacked', { unpackedSize: 10_000_000 }, '10000000 bytes unpacked are more than'],
  ])('would be refused with %s', (_, change, problem) => {
    expect(packageProblems({ ...contents, ...change } as never).join('\n')).toContain(problem);
  });

  test('installs in an empty folder without running scripts, and npx runs it', async ({ skip }) => {
    const cwd = path.join(base, 'empty');
    fs.mkdirSync(cwd);
    fs.writeFileSync(path.join(cwd, 'package.json'), '{}');
    const args = ['install', released(`ringfence-${version}.tgz`), '--ignore-scripts', '--no-audit', '--no-fund'];
    const failed = await run('npm', args, { cwd }).then(
      () => undefined,
      (error) => error.stderr as string,
    );
    if (/ENOTFOUND|ECONNREFUSED|EAI_AGAIN|ETIMEDOUT/.test(failed ?? '')) skip('the registry of npm cannot be reached');
    expect(failed).toBeUndefined();
    expect((await run('npx', ['--no-install', 'ringfence', '--version'], { cwd })).stdout.trim()).toBe(version);
    expect(await readBy('npx', ['--no-install', 'ringfence', 'stdio', notes()], cwd)).toBe('content');
  }, 240_000);
});

test('the bundle starts as Claude Desktop starts it, on the folders that the person chose', async () => {
  const folder = path.join(base, 'bundle');
  await run(process.execPath, [MCPB, 'unpack', released(`ringfence-${version}.mcpb`), folder]);
  const manifest = JSON.parse(fs.readFileSync(path.join(folder, 'manifest.json'), 'utf8'));
  const { command = '', args = [] } =
    (await getMcpConfigForManifest({
      manifest,
      extensionPath: folder,
      systemDirs: {},
      userConfig: { folders: [notes()] },
      pathSeparator: path.sep,
    })) ?? {};
  expect(args).toEqual([path.join(folder, 'dist/bin.js'), 'stdio', notes()]);
  expect(await readBy(command, args, base)).toBe('content');
  expect(fs.existsSync(path.join(folder, 'node_modules/vitest'))).toBe(false);
}, 60_000);
