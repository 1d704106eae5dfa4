import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noTerminal, runOnTerminal } from '../support/pty.ts';
import { type Ended, runRingfence } from '../support/ringfence-process.ts';
import { tempDir } from '../support/temp-dir.ts';

const base = tempDir('ringfence-check-');
const dir = path.join(base, 'project');
afterAll(() => fs.rmSync(base, { recursive: true, force: true }));

const CONFIG = {
  host: '0.0.0.0',
  roots: [
    {
      name: 'p',
      path: '.',
      allowed_tools: ['*'],
      deny: ['.env', '*.pem'],
      protect: ['locked', '**/.git/hooks'],
      confirm: ['remove_folder'],
      history: true,
    },
    { name: 'inner', path: 'inner', allowed_tools: ['list_folder', 'read_file', 'write_file'], read_only: true },
    { name: 'writes', path: 'writes', allowed_tools: ['write_file'] },
  ],
  dialects: { workspace: {}, memory: { root: 'p' }, classic: { root: 'inner' } },
};
const TOKENS = [
  { name: 'ci', token_env: 'CI_TOKEN_UNSET', roots: ['p'], tools: ['read_file', 'list_folder'] },
  { name: 'dev', sha256: '0'.repeat(64), roots: ['p', 'inner'] },
];

beforeAll(() => {
  for (const folder of ['inner', 'writes', 'locked', '.git/hooks', '../outside'])
    fs.mkdirSync(path.join(dir, folder), { recursive: true });
  for (const file of ['a.txt', '.env', 'locked/x', '.git/hooks/pre', 'inner/i.txt', '../outside/o'])
    fs.writeFileSync(path.join(dir, file), 'x');
  fs.symlinkSync('../outside', path.join(dir, 'way-out'));
  fs.symlinkSync('.env', path.join(dir, 'link'));
  fs.symlinkSync('loop', path.join(dir, 'loop'));
  fs.symlinkSync(path.join(dir, 'a.txt'), path.join(base, 'way-in'));
  fs.writeFileSync(path.join(dir, 'ringfence.yaml'), JSON.stringify(CONFIG));
  fs.writeFileSync(path.join(dir, 'tokens.yaml'), JSON.stringify({ ...CONFIG, auth: { tokens: TOKENS } }));
});

const check = (...args: string[]): Promise<Ended> => runRingfence(['check', ...args], { cwd: dir });
const explained = async (...args: string[]) => JSON.parse((await check(...args, '--json')).stdout);

describe('the rule that decides about a path', () => {
  test.each<[string, string | undefined, string | undefined, object]>([
    ['a.txt', 'allowed', 'allowed', { exists: true }],
    ['new.txt', 'allowed', 'allowed', { exists: false }],
    ['.env', 'deny', 'deny', { reading: { pattern: '.env', origin: 'roots[0].deny[0]' } }],
    ['sub/new.pem', 'deny', 'deny', { reading: { pattern: '*.pem', origin: 'roots[0].deny[1]' } }],
    ['link', 'deny', 'deny', { leadsTo: '.env', reading: { origin: 'roots[0].deny[0]' } }],
    ['locked/x', 'allowed', 'protect', { changing: { pattern: 'locked', origin: 'roots[0].protect[0]' } }],
    ['.git/hooks/pre', 'allowed', 'protect', { changing: { origin: 'roots[0].protect[1]' } }],
    ['ringfence.yaml', 'allowed', 'own_file', {}],
    ['.ringfence/log', 'reserved', 'reserved', {}],
    ['way-out', 'link_leads_out', 'link_leads_out', {}],
    ['way-out/o', 'link_leads_out', 'link_leads_out', {}],
    ['loop', 'unreachable', 'unreachable', {}],
    ['../way-in', 'allowed', 'allowed', { path: 'a.txt' }],
    ['.', 'allowed', 'allowed', { path: '.' }],
  ])('%s: reading %s, changing %s', async (at, reading, changing, more) => {
    const { roots } = await explained(at);
    expect(roots[0]).toMatchObject({ root: 'p', reading: { rule: reading }, changing: { rule: changing } });
    expect(roots[0]).toMatchObject(more);
  });

  test('is told for each root that the path is in', async () => {
    const { roots } = await explained('inner/i.txt');
    expect(roots.map((each: { root: string }) => each.root)).toEqual(['p', 'inner']);
    expect(roots[1]).toMatchObject({
      path: 'i.txt',
      reading: { allowed: true, tools: ['list_folder', 'read_file'] },
      changing: { allowed: false, rule: 'read_only', origin: 'roots[1].read_only' },
    });
    expect((await explained('writes/x')).roots[1]).toMatchObject({
      reading: { allowed: false, rule: 'allowed_tools', origin: 'roots[2].allowed_tools' },
      changing: { allowed: true, tools: ['write_file'] },
    });
  });

  test('is said for people, with the place in the config', async () => {
    expect((await check('.env')).stdout).toMatch(
      /in root p as \.env\n +read +no +.*deny "\.env" \(ringfence\.yaml: roots\[0\]\.deny\[0\]\)\n/,
    );
    expect((await check('a.txt')).stdout).toMatch(/change +yes .*a person is asked first about remove_folder\n/);
    expect((await check('../outside/o')).stdout).toContain('outside of all roots');
    expect((await check('a.txt', '--config', 'tokens.yaml')).stdout).toContain(
      'token ci may read it\n    token dev may read and change it\n',
    );
  });

  test('agrees with what a call may do', async () => {
    for (const [at, code] of [
      ['a.txt', 0],
      ['.env', 1],
      ['link', 1],
      ['way-out/o', 1],
      ['locked/x', 0],
    ] as const) {
      expect([at, (await runRingfence(['call', 'read_file', 'root=p', `path=${at}`], { cwd: dir })).code]).toEqual([
        at,
        code,
      ]);
    }
    for (const at of ['ringfence.yaml', 'locked/x', '.git/hooks/pre', '.ringfence/x', 'new.pem']) {
      expect([
        at,
        (await runRingfence(['call', 'write_file', 'root=p', `path=${at}`, 'content=x'], { cwd: dir })).code,
      ]).toEqual([at, 1]);
    }
  });
});

describe('the tables', () => {
  test('say who may do what, in which dialect, at which address', async () => {
    const { code, stdout } = await check('--config', 'tokens.yaml');
    expect(code).toBe(0);
    expect(stdout).toMatch(/memory +http:\/\/0\.0\.0\.0:8091\/mcp\/memory +p\n/);
    expect(stdout).toMatch(/p +\S+ +read, write +7d, 1\.0G\n/);
    expect(stdout).toMatch(/inner +\S+ +read +none\n/);
    expect(stdout).toMatch(/p +deny +\*\.pem/);
    expect(stdout).toMatch(/p +confirm +remove_folder/);
    expect(stdout).toMatch(/ci +p +workspace +list_folder, read_file\n/);
    expect(stdout).toMatch(/dev +p +memory +all\n/);
    expect(stdout).toMatch(/dev +inner +classic +list, read\n/);
    expect(stdout).not.toMatch(/ci +inner/);
  });

  test('are there for programs', async () => {
    const { roots, access, tokens } = await explained('--config', 'tokens.yaml');
    expect(tokens).toEqual(['ci', 'dev']);
    expect(roots[1]).toMatchObject({
      name: 'inner',
      read_only: true,
      tools: ['list_folder', 'read_file'],
      history: null,
    });
    expect(access).toContainEqual({ client: 'ci', root: 'p', dialect: 'memory', tools: ['view'], isAll: false });
  });

  test('are there for folders, too', async () => {
    expect((await check('--root', 'inner')).stdout).toMatch(/anyone +inner +workspace +all\n$/);
  });
});

describe('warnings', () => {
  const warnings = async (...args: string[]): Promise<string[]> => (await explained(...args)).warnings;

  test('name what may not be intended', async () => {
    expect(await warnings()).toEqual([
      expect.stringContaining('lets anyone who reaches this machine over the network (host 0.0.0.0) read and write'),
      expect.stringContaining('root inner is inside root p'),
      expect.stringContaining('root writes is inside root p'),
    ]);
    expect(await warnings('--config', 'tokens.yaml')).toEqual([
      expect.stringContaining('the environment variable CI_TOKEN_UNSET is not set'),
      expect.stringContaining('inner is inside'),
      expect.stringContaining('writes is inside'),
      'no token may use root writes over HTTP',
    ]);
  });

  test('of roots that are too wide, the same, useless or unprotected', async () => {
    const all = { allowed_tools: ['*'] };
    const roots = [
      { name: 'a', path: 'inner', ...all, protect: ['x'] },
      { name: 'b', path: 'inner', allowed_tools: [] },
      { name: 'top', path: '/', allowed_tools: ['read_file'] },
    ];
    fs.writeFileSync(
      path.join(dir, 'odd.yaml'),
      JSON.stringify({ host: '127.0.0.1', roots, hardening: { landlock: 'off' } }),
    );
    const found = (await warnings('--config', 'odd.yaml')).join('\n');
    for (const part of [
      'a and b are the same folder',
      'top is the whole file system',
      'b allows no tool',
      'a does not protect git hooks',
      'landlock is off',
    ])
      expect(found).toContain(part);
    expect(await warnings('--root', 'inner')).toEqual([]);
    expect((await explained('a.txt', '--config', 'odd.yaml')).roots[0]).toMatchObject({ root: 'top', exists: true });
  });
});

test('a broken config is one line, with exit code 2', async () => {
  fs.writeFileSync(path.join(dir, 'broken.yaml'), 'roots: [{ name: a, path: ., allowed_tools: ["*"], denny: [] }]');
  const { code, stdout, stderr } = await check('--config', 'broken.yaml');
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/^ringfence: broken\.yaml: [^\n]*denny[^\n]*did you mean [^\n]*deny\?[^\n]*\n$/);
});

test('a history is found by a config with a variable in its path, whatever its tokens are', async () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the server replaces it
  const roots = [{ name: 'h', path: '${PROJECT_DIR}/inner', allowed_tools: ['*'], history: true }];
  fs.writeFileSync(
    path.join(dir, 'variable.yaml'),
    JSON.stringify({ roots, auth: { tokens: [{ name: 't', token_env: 'UNSET_TOKEN', roots: ['h'] }] } }),
  );
  const { code, stderr } = await runRingfence(['checkpoint', '--config', 'variable.yaml'], {
    cwd: dir,
    env: { PROJECT_DIR: dir },
  });
  expect([code, stderr]).toEqual([0, '']);
});

test.skipIf(noTerminal !== undefined)(
  `colours are for terminals${noTerminal === undefined ? '' : ` (skipped: ${noTerminal})`}`,
  async () => {
    const args = ['check', path.join(dir, '.env'), '--config', path.join(dir, 'ringfence.yaml')];
    expect((await runOnTerminal(args)).screen).toContain('\u001b[31mno ');
    expect((await runOnTerminal(args, [], { NO_COLOR: '1' })).screen).not.toContain('\u001b');
  },
);
