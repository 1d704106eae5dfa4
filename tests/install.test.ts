import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse as parseToml } from 'smol-toml';
import { beforeEach, describe, expect, test } from 'vitest';
import { CLIENTS, entryFor, type Machine } from '../src/cli/install/clients.ts';
import { serverCommand } from '../src/cli/install/server-command.ts';
import { loadConfig } from '../src/config/file/load-config.ts';
import { type Ended, runRingfence } from './support/ringfence-process.ts';
import { tempDir } from './support/temp-dir.ts';

const TOP = fileURLToPath(new URL('..', import.meta.url));
const UNSET = { XDG_CONFIG_HOME: '', CODEX_HOME: '', CLAUDE_CONFIG_DIR: '', GEMINI_CLI_HOME: '' };

let home: string;
let project: string;

beforeEach(() => {
  home = tempDir();
  project = path.join(home, 'project');
  fs.mkdirSync(project);
  return () => fs.rmSync(home, { recursive: true, force: true });
});

const ringfence = (...args: string[]): Promise<Ended> =>
  runRingfence(args, { cwd: project, env: { ...UNSET, HOME: home } });
const fileOf = (id: string): string =>
  CLIENTS.find((client) => client.id === id)?.configFile({ platform: process.platform, env: {}, home }) as string;

function plant(id: string, content: string | Buffer, mode = 0o640): string {
  const file = fileOf(id);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, content);
  fs.chmodSync(file, mode);
  return file;
}

const ODD_FILES: readonly (readonly [id: string, what: string, content: string])[] = [
  [
    'cursor',
    'comments',
    '{\n  // mine\n  "mcpServers": { // all\n    // a\n    "a": { "command": "x" } // last\n  }\n}\n',
  ],
  ['vscode', 'tabs, CRLF, trailing commas', '{\r\n\t"inputs": [],\r\n\t"servers": {\r\n\t\t"a": {},\r\n\t},\r\n}'],
  ['gemini', 'a byte order mark', '\ufeff{\n    "theme": "x" /* y */\n}\n'],
  ['claude-code', 'one line', '{"numStartups":3,"mcpServers":{"a":{"type":"stdio"}},"x":1e3}'],
  ['claude-desktop', 'nothing in it', '{}'],
  ['claude-desktop', 'an empty table', '{\n  "mcpServers": {},\n  "z": 1\n}\n'],
  ['cursor', 'no bytes', ''],
  ['cursor', 'an entry of its own', '{"mcpServers": {"ringfence": {"command": "old", "env": {"A": "b"}}}}\n'],
  ['cursor', 'an entry of another kind', '{\n  "mcpServers": {\n    "ringfence": { "url": "http://x" }\n  }\n}\n'],
  ['codex', 'comments', '# c\nmodel = "x"   # y\n\n[mcp_servers.a]\nargs = [\n  "[b]", # z\n]\n# end'],
  ['codex', 'CRLF', 'model = "x"\r\n[a]\r\nb = """\r\n[mcp_servers.ringfence]\r\n"""\r\n'],
  [
    'codex',
    'an entry of its own',
    '[mcp_servers.ringfence]\ncommand = "old"\nargs = [\n "a",\n]\nenabled = true\n\n# a\n[a]\n',
  ],
  ['codex', 'dotted keys', 'mcp_servers.a.command = "x"\nn = 9223372036854775807\n'],
];

describe.each(ODD_FILES)('the config of %s with %s', (id, _, content) => {
  test('gets an entry once, beside what is there, and is restored byte for byte', async () => {
    const file = plant(id, content);
    const shown = await ringfence('install', id, '--print');
    expect(shown.stdout).toContain('@@ ');
    expect(fs.readFileSync(file, 'utf8')).toBe(content);
    expect(fs.readdirSync(path.dirname(file)).filter((name) => name.includes('before'))).toEqual([]);

    expect(await ringfence('install', id)).toMatchObject({ code: 0, stderr: '' });
    const installed = fs.readFileSync(file, 'utf8');
    expect(installed).toContain(JSON.stringify(project));
    expect(installed.startsWith('\ufeff')).toBe(content.startsWith('\ufeff'));
    if (content.includes('\r\n')) expect(installed.replaceAll('\r\n', '')).not.toContain('\n');
    const lines = installed.split('\n');
    const mayChange = /"?ringfence|command|args|^ "a",$|^\]$|^\{"|^\{\}$|"mcpServers": \{\}|^# end$/;
    for (const line of content.split('\n').filter((each) => !mayChange.test(each))) expect(lines).toContain(line);
    for (const name of [file, `${file}.before-ringfence`]) expect(fs.statSync(name).mode & 0o777).toBe(0o640);

    expect((await ringfence('install', id)).stdout).toContain('nothing to do');
    expect(fs.readFileSync(file, 'utf8')).toBe(installed);
    // Another folder, then back.
    expect((await ringfence('install', id, '--root', home)).code).toBe(0);
    expect(fs.readFileSync(file, 'utf8')).not.toBe(installed);

    expect((await ringfence('install', id, '--uninstall')).code).toBe(0);
    expect(fs.readFileSync(file, 'utf8')).toBe(content);
    expect(fs.readdirSync(path.dirname(file)).filter((name) => name.includes('before'))).toEqual([]);
    expect(fs.statSync(file).mode & 0o777).toBe(0o640);
  });
});

test('values of an entry that others have set are kept', async () => {
  const json = plant('cursor', '{"mcpServers": {"ringfence": {"command": "old", "env": {"A": "b"}}}}');
  const toml = plant(
    'codex',
    '[mcp_servers.ringfence]\ncommand = "old"\nenabled = true\n\n[mcp_servers.ringfence.env]\nA = "b"\n',
  );
  await ringfence('install', 'cursor');
  await ringfence('install', 'codex');
  expect(JSON.parse(fs.readFileSync(json, 'utf8')).mcpServers.ringfence).toMatchObject({
    env: { A: 'b' },
    command: process.execPath,
  });
  expect(parseToml(fs.readFileSync(toml, 'utf8'))).toMatchObject({
    mcp_servers: { ringfence: { command: process.execPath, enabled: true, env: { A: 'b' } } },
  });
});

test('what was changed since stays when the entry is removed', async () => {
  const json = plant('cursor', '{\n  "mcpServers": {\n    "a": {} // b\n  }\n}\n');
  const toml = plant('codex', 'a = 1\n');
  await ringfence('install', 'cursor');
  await ringfence('install', 'codex');
  fs.writeFileSync(json, fs.readFileSync(json, 'utf8').replace('// b', '// c'));
  fs.appendFileSync(toml, '\n# new\n[b]\nc = 1\n');
  await ringfence('install', 'cursor', '--uninstall');
  await ringfence('install', 'codex', '--uninstall');
  expect(fs.readFileSync(json, 'utf8')).toBe('{\n  "mcpServers": {\n    "a": {} // c\n  }\n}\n');
  expect(fs.readFileSync(toml, 'utf8')).toBe('a = 1\n\n# new\n[b]\nc = 1\n');
});

test.each([
  ['cursor', '{ "mcpServers": '],
  ['cursor', '{ "mcpServers": [] }'],
  ['cursor', '{ "mcpServers": {}, "mcpServers": {} }'],
  ['cursor', '{ "mcpServers": { "a": 1, "a": 2 } }'],
  ['cursor', '{ "mcpServers": { "ringfence": 1 } }'],
  ['cursor', '[]'],
  ['cursor', Buffer.from([0x7b, 0xff, 0x7d])],
  ['codex', 'a = \n'],
  ['codex', 'a = 1\na = 2\n'],
  ['codex', 'mcp_servers = []\n'],
  ['codex', 'mcp_servers = { a = { command = "x" } }\n'],
])('%s with %j is left alone with one line', async (id, content) => {
  const file = plant(id, content);
  const before = fs.readFileSync(file);
  const { code, stdout, stderr } = await ringfence('install', id);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^ringfence: [^\n]+ was left alone: [^\n]+\n$/);
  expect(fs.readFileSync(file)).toEqual(before);
  expect(fs.readdirSync(path.dirname(file))).toEqual([path.basename(file)]);
});

test.each([
  ['cursor', '{\n  "a": 1,\n  "b" 2\n}\n', 'it is not valid JSON: colon expected in line 3'],
  ['codex', 'a = 1\nb = \n', 'in line 2'],
  ['cursor', 'null', 'it holds no JSON object'],
  ['cursor', '{"mcpServers": null}', 'mcpServers is not an object'],
])('%s with %j is refused with what is wrong and where', async (id, content, problem) => {
  plant(id, content);
  expect((await ringfence('install', id)).stderr).toContain(problem);
});

test('a config of 25 MB that only its owner may read is kept so', async () => {
  const content = `${JSON.stringify({ projects: 'x'.repeat(25_000_000) })}\n`;
  const file = plant('claude-code', content, 0o400);
  expect((await ringfence('install', 'claude-code')).code).toBe(0);
  for (const name of [file, `${file}.before-ringfence`]) expect(fs.statSync(name).mode & 0o777).toBe(0o400);
  expect((await ringfence('install', 'claude-code', '--uninstall')).code).toBe(0);
  expect(fs.readFileSync(file, 'utf8') === content).toBe(true);
});

test.each(CLIENTS.map(({ id }) => id))('a config of %s that install made is removed again', async (id) => {
  expect(await ringfence('install', id)).toMatchObject({ code: 0, stderr: '' });
  expect(fs.statSync(fileOf(id)).mode & 0o777).toBe(0o600);
  expect((await ringfence('install', id, '--uninstall')).code).toBe(0);
  expect(fs.existsSync(fileOf(id))).toBe(false);
  expect((await ringfence('install', id, '--uninstall')).stdout).toContain('nothing to do');
});

test('a linked config is changed where it is', async () => {
  const real = path.join(home, 'dotfiles.json');
  fs.writeFileSync(real, '{}\n');
  fs.mkdirSync(path.dirname(fileOf('cursor')));
  fs.symlinkSync(real, fileOf('cursor'));
  await ringfence('install', 'cursor');
  expect(fs.lstatSync(fileOf('cursor')).isSymbolicLink()).toBe(true);
  expect(fs.readFileSync(real, 'utf8')).toContain('ringfence');
  await ringfence('install', 'cursor', '--uninstall');
  expect(fs.readFileSync(real, 'utf8')).toBe('{}\n');
});

describe('where configs are', () => {
  const places = (machine: Machine): string[] => CLIENTS.map((client) => client.configFile(machine));

  test.each<[NodeJS.Platform, string, string, string]>([
    ['linux', '/home/a', '/home/a/.config/', '/'],
    ['darwin', '/Users/a', '/Users/a/Library/Application Support/', '/'],
    ['win32', 'C:\\Users\\a', 'C:\\Users\\a\\AppData\\Roaming\\', '\\'],
  ])('on %s', (platform, at, data, sep) => {
    const name = (text: string): string => text.replaceAll('/', sep);
    const wanted = ['/.claude.json', '/.cursor/mcp.json', '/.codex/config.toml', '/.gemini/settings.json'].map(
      (each) => at + name(each),
    );
    wanted.splice(1, 0, data + name('Claude/claude_desktop_config.json'), data + name('Code/User/mcp.json'));
    expect(places({ platform, env: {}, home: at })).toEqual(wanted);
  });

  test('variables move them', () => {
    const env = { XDG_CONFIG_HOME: '/x', CODEX_HOME: '/c', CLAUDE_CONFIG_DIR: '/d', GEMINI_CLI_HOME: '/g' };
    expect(places({ platform: 'linux', env, home: '/home/a' })).toEqual([
      '/d/.claude.json',
      '/x/Claude/claude_desktop_config.json',
      '/x/Code/User/mcp.json',
      '/home/a/.cursor/mcp.json',
      '/c/config.toml',
      '/g/.gemini/settings.json',
    ]);
    expect(places({ platform: 'win32', env: { APPDATA: 'D:\\r' }, home: 'C:\\a' })[2]).toBe(
      'D:\\r\\Code\\User\\mcp.json',
    );
  });
});

test('what runs from the cache of npx is started by npx', () => {
  const program = '/home/a/.npm/_npx/12/node_modules/ringfence/dist/bin.js';
  const linux = serverCommand(['stdio', '/p'], { node: '/n', program, platform: 'linux' });
  expect(linux).toEqual({ command: 'npx', args: ['-y', 'ringfence', 'stdio', '/p'] });
  expect(serverCommand([], { node: '/n', program, platform: 'win32' }).command).toBe('cmd');
});

test('the links in the README hold the entry of the client', () => {
  const readme = fs.readFileSync(path.join(TOP, 'README.md'), 'utf8');
  const program = { node: '', program: '/_npx/', platform: 'linux' as const };
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the editors replace it
  const command = serverCommand(['stdio', '${workspaceFolder}'], program);
  const vscode = new URL(/https:\/\/insiders\.vscode\.dev\/redirect\?url=[^)\s]+/.exec(readme)?.[0] as string);
  const [scheme, json = ''] = (vscode.searchParams.get('url') as string).split('?');
  expect(scheme).toBe('vscode:mcp/install');
  expect(JSON.parse(decodeURIComponent(json))).toEqual({ name: 'ringfence', ...entryFor({ isTyped: true }, command) });
  const cursor = new URL(/cursor:\/\/anysphere\.cursor-deeplink\/mcp\/install\?[^`)\s]+/.exec(readme)?.[0] as string);
  expect(cursor.searchParams.get('name')).toBe('ringfence');
  const config = Buffer.from(cursor.searchParams.get('config') as string, 'base64').toString();
  expect(JSON.parse(config)).toEqual(entryFor({ isTyped: false }, command));
});

test('init writes a config that loads, once, and names the clients it found', async () => {
  plant('cursor', '{}');
  const { code, stdout } = await ringfence('init');
  expect([code, stdout]).toEqual([0, expect.stringContaining('install cursor --config')]);
  expect(stdout).not.toContain('install codex');
  const file = path.join(project, 'ringfence.yaml');
  expect((await loadConfig(file)).roots.map(({ name, path: folder }) => [name, folder])).toEqual([
    ['project', project],
  ]);
  const text = fs.readFileSync(file, 'utf8');
  expect(await ringfence('init')).toMatchObject({ code: 1, stderr: expect.stringContaining('exists; edit it') });
  expect(fs.readFileSync(file, 'utf8')).toBe(text);
  expect((await ringfence('install', 'cursor', '--config', 'ringfence.yaml')).code).toBe(0);
  expect(fs.readFileSync(fileOf('cursor'), 'utf8')).toContain(file);
});

test('init does not take the whole home folder for a project', async () => {
  const options = { cwd: home, env: { ...UNSET, HOME: home } };
  expect(await runRingfence(['init'], options)).toMatchObject({ code: 1, stderr: expect.stringContaining('init DIR') });
  expect(fs.existsSync(path.join(home, 'ringfence.yaml'))).toBe(false);
  expect((await runRingfence(['init', '.'], options)).code).toBe(0);
});

test('the config that init writes passes check', async () => {
  await ringfence('init');
  const { code, stdout } = await ringfence('check');
  expect([code, stdout.includes('warning')]).toEqual([0, false]);
});
