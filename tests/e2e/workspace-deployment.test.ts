import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { CAPABILITIES } from '../../src/tools/capabilities.ts';
import { tempDir } from '../support/temp-dir.ts';
import { connectHttp } from '../support/tool-client.ts';

const REPO = fileURLToPath(new URL('../../', import.meta.url));
const COPIED = [
  'src',
  'scripts',
  'console',
  'config',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'Makefile',
];
/** The packages are there; installing them is npm's business. */
const MAKE = ['-o', 'node_modules'];
const run = promisify(execFile);

let checkout: string;

/** A checkout of its own, because building in the repository would pull dist/ from under the other tests. */
beforeAll(() => {
  checkout = tempDir('ringfence-checkout-');
  for (const name of COPIED) fs.cpSync(path.join(REPO, name), path.join(checkout, name), { recursive: true });
  fs.symlinkSync(path.join(REPO, 'node_modules'), path.join(checkout, 'node_modules'));
});
afterAll(() => fs.rmSync(checkout, { recursive: true, force: true }));

test('NFR-020 NFR-021 NFR-023 FR-018 FR-019: make build builds, make run serves the sample config', async () => {
  await run('make', [...MAKE, 'build'], { cwd: checkout });
  expect(fs.existsSync(path.join(checkout, 'dist/bin.js'))).toBe(true);

  const sample = path.join(checkout, 'config/mcp-filesystem.yaml');
  expect(fs.readFileSync(sample, 'utf8')).toContain('port: 8091');
  // Any free port, so that the test does not mind what else runs on this machine.
  fs.writeFileSync(sample, fs.readFileSync(sample, 'utf8').replace('port: 8091', 'port: 0'));
  const make = spawn('make', [...MAKE, '-o', 'build', 'run', 'CMD=mcp-filesystem'], { cwd: checkout, detached: true });
  const ended = once(make, 'close');
  try {
    let output = '';
    const url = await new Promise<string>((resolve, reject) => {
      const look = (chunk: Buffer): void => {
        output += chunk;
        const found = output.match(/"url":"(http:[^"]+)"/)?.[1];
        if (found !== undefined) resolve(found);
      };
      make.stdout.on('data', look);
      make.stderr.on('data', look);
      ended.then(() => reject(new Error(output)));
    });
    const health = await fetch(new URL('/health', url));
    expect([health.status, await health.text()]).toEqual([200, 'ok']);
    await using client = await connectHttp(url);
    const { roots } = await client.ok('list_roots');
    const names = roots.map(({ name }: { name: string }) => name);
    expect(names).toContain('workspace');
    for (const root of names) await client.ok('list_folder', { root, path: '' });
  } finally {
    if (make.pid !== undefined && make.exitCode === null) process.kill(-make.pid, 'SIGTERM');
    await ended;
  }
}, 120_000);

test('NFR-022: the image is built in stages, runs as a user of its own and checks its health', async () => {
  const steps = fs
    .readFileSync(path.join(REPO, 'Dockerfile'), 'utf8')
    .replaceAll(/\\\n/g, ' ')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [instruction = '', ...rest] = line.split(/\s+/);
      return { instruction, rest };
    });
  const known = [
    'FROM',
    'WORKDIR',
    'COPY',
    'RUN',
    'USER',
    'ENV',
    'EXPOSE',
    'HEALTHCHECK',
    'ENTRYPOINT',
    'CMD',
    'VOLUME',
    'LABEL',
    'ARG',
  ];
  for (const { instruction } of steps) expect(known).toContain(instruction);
  const of = (name: string) =>
    steps.filter(({ instruction }) => instruction === name).map(({ rest }) => rest.join(' '));
  expect(of('FROM').length).toBeGreaterThan(1);
  expect(of('USER').at(-1)).toBeDefined();
  expect(of('USER').at(-1)).not.toMatch(/^(root|0)\b/);
  expect(of('HEALTHCHECK').join()).toContain('/health');
  expect([...of('ENTRYPOINT'), ...of('CMD')].join()).toContain('serve');
  for (const { rest } of steps.filter(
    ({ instruction, rest }) => instruction === 'COPY' && !rest.join().includes('--from'),
  )) {
    for (const source of rest.filter((word) => !word.startsWith('--')).slice(0, -1)) {
      expect(fs.existsSync(path.join(REPO, source.replace(/\*$/, ''))), source).toBe(true);
    }
  }
  const { stdout } = await run('make', ['-n', 'docker-build'], { cwd: REPO });
  expect(stdout).toMatch(/docker build/);
});

test('NFR-023 FR-018: the sample config has the documented keys and folders that exist', () => {
  const config = parse(fs.readFileSync(path.join(REPO, 'config/mcp-filesystem.yaml'), 'utf8'));
  expect(config).toMatchObject({ port: 8091, max_full_read_size: 1_048_576 });
  expect(config.roots.length).toBeGreaterThan(0);
  for (const root of config.roots) {
    expect(fs.statSync(path.resolve(REPO, 'config', root.path)).isDirectory()).toBe(true);
    for (const tool of root.allowed_tools) expect(['*', ...CAPABILITIES]).toContain(tool);
  }
});
