import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { CAPABILITIES, CONFIRMABLE_CAPABILITIES } from '../../tools/capabilities.ts';
import { ConfigError } from '../config-error.ts';
import { loadConfig } from './load-config.ts';

const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'ringfence-config-'));
afterAll(() => fs.rmSync(dir, { recursive: true }));
fs.mkdirSync(path.join(dir, 'a'));
fs.mkdirSync(path.join(dir, 'b'));
fs.writeFileSync(path.join(dir, 'file.txt'), '');
const file = path.join(dir, 'ringfence.yaml');

function load(yaml: string | Uint8Array) {
  fs.writeFileSync(file, yaml);
  return loadConfig(file);
}

async function problem(attempt: () => Promise<unknown>): Promise<string> {
  try {
    await attempt();
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message;
  }
  throw new Error('the config was accepted');
}

const A = 'roots: [{ name: a, path: a, allowed_tools: ["*"] }]';

test('paths of roots and of the project may begin with ~ or name variables', async () => {
  const yaml = `roots: [{ name: a, path: ~/a, allowed_tools: ["*"] }]\ndialects: { guide: { project: "\${TOP}/b" } }`;
  fs.writeFileSync(file, yaml);
  const { roots, dialects } = await loadConfig(file, { HOME: dir, TOP: dir });
  expect(roots[0]?.path).toBe(path.join(dir, 'a'));
  expect(dialects[0].project?.project).toBe(path.join(dir, 'b'));
  expect(await problem(() => loadConfig(file, { HOME: dir }))).toBe(
    `${file}: dialects.guide.project: the environment variable TOP is not set`,
  );
});

test('FR-018: defaults, and paths relative to the file', async () => {
  expect(await load(A)).toEqual({
    file,
    host: '0.0.0.0',
    port: 8091,
    maxFullReadSize: 1_048_576,
    requestTimeout: 30,
    console: false,
    confirmTimeout: 60,
    results: 'auto',
    maxResultChars: undefined,
    annotations: 'spec',
    logLevel: 'info',
    durableWrites: true,
    roots: [{ name: 'a', path: path.join(dir, 'a'), allowed: CAPABILITIES, origin: 'roots[0].path' }],
    dialects: [{ name: 'workspace', root: undefined }],
    auth: undefined,
    rateLimit: undefined,
    memory: 512 * 1024 * 1024,
  });
});

test('FR-018: every key is read', async () => {
  const config = await load(`
host: 127.0.0.1
port: 0
max_full_read_size: 10
request_timeout: 0.5
confirm_timeout: 90
results: text
max_result_chars: 5000
annotations: honest
log_level: trace
durable_writes: false
rate_limit: { calls_per_second: 2.5 }
limits: { memory: 100000000 }
roots:
  - { name: a, path: ${path.join(dir, 'a')}, allowed_tools: [read_file, grep] }
  - { name: b, path: ./b, allowed_tools: [] }
`);
  expect(config).toMatchObject({
    host: '127.0.0.1',
    port: 0,
    maxFullReadSize: 10,
    requestTimeout: 0.5,
    confirmTimeout: 90,
    results: 'text',
    maxResultChars: 5_000,
    annotations: 'honest',
    logLevel: 'trace',
    rateLimit: { callsPerSecond: 2.5, burst: 3 },
    memory: 100_000_000,
  });
  expect(config.durableWrites).toBe(false);
  expect(config.roots.map(({ allowed }) => allowed)).toEqual([['read_file', 'grep'], []]);
});

test('DESIGN §7: dialects are read in order, each with its root', async () => {
  const dialectsOf = async (dialects: string) => (await load(`${A}\ndialects: ${dialects}`)).dialects;
  expect(await dialectsOf('{ workspace: {} }')).toEqual([{ name: 'workspace', root: undefined }]);
  expect(await dialectsOf('{ workspace: }')).toEqual([{ name: 'workspace', root: undefined }]);
  expect(await dialectsOf('{ memory: { root: a } }')).toEqual([{ name: 'memory', root: 'a' }]);
  expect(await dialectsOf('{ classic: { root: a }, workspace: {}, memory: { root: a } }')).toHaveLength(3);
});

describe('FR-018: a mistake is one line that names file, key and fix', () => {
  test.each([
    ['', /the config is empty/],
    ['# nothing', /the config is empty/],
    ['just text', /the keys must be an object, got "just text"/],
    ['- a\n- b', /the keys must be an object, got a list/],
    ['host: [', /not valid YAML, line 1/],
    ['host: a\nhost: b', /not valid YAML, line 2: Map keys must be unique/],
    [`${A}\n---\n${A}`, /not valid YAML.*multiple documents/],
    ['a: &a [1]\nb: [*a,*a]\nc: *unknown', /not valid YAML/],
    ['host: x', /roots is required/],
    ['roots: []', /roots must be a non-empty list, got a list/],
    ['roots: a', /roots must be a non-empty list, got "a"/],
    ['roots: [a]', /roots\[0\] must be an object, got "a"/],
    [`${A}\nprot: 1`, /unknown key: prot \(did you mean port\?\)/],
    [`${A}\ntls: {}`, /unknown key: tls; known are host, port, /],
    [`${A}\nhardening: { landlok: auto }`, /unknown key: hardening\.landlok \(did you mean hardening\.landlock\?\)/],
    [`${A}\nhardening: { landlock: on }`, /hardening\.landlock must be .*auto.*require.*off.*got "on"/],
    [`${A}\nrate_limit: {}`, /rate_limit.calls_per_second is required/],
    [`${A}\nrate_limit: { calls_per_second: 0 }`, /rate_limit.calls_per_second must be .*, got 0/],
    [`${A}\nrate_limit: { calls_per_second: 5, burst: 0 }`, /rate_limit.burst must be an integer .*, got 0/],
    [`${A}\nrate_limit: { calls_per_second: 5, per: 1 }`, /unknown key: rate_limit.per/],
    [`${A}\nlimits: { memory: 1000 }`, /limits.memory must be an integer of at least 67108864, got 1000/],
    [`${A}\nlimits: { memroy: 1000 }`, /unknown key: limits.memroy \(did you mean limits.memory\?\)/],
    [`${A}\ndialect: {}`, /unknown key: dialect \(did you mean dialects\?\)/],
    [`${A}\ndialects: {}`, /dialects: names none; leave the key out to serve workspace/],
    [`${A}\ndialects:`, /dialects must be an object, got null/],
    [`${A}\ndialects: memory`, /dialects must be an object, got "memory"/],
    [`${A}\ndialects: [memory]`, /dialects must be an object, got a list/],
    [`${A}\ndialects: { memry: { root: a } }`, /unknown key: dialects\.memry \(did you mean dialects\.memory\?\)/],
    [`${A}\ndialects: { Classic: { root: a } }`, /unknown key: dialects\.Classic \(did you mean dialects\.classic\?\)/],
    [`${A}\ndialects: { other: {} }`, /unknown key: dialects\.other; known are workspace, memory, classic, guide/],
    [`${A}\ndialects: { workspace: { root: a } }`, /unknown key: dialects\.workspace\.root/],
    [`${A}\ndialects: { workspace: 5 }`, /dialects\.workspace must be an object, got 5/],
    [`${A}\ndialects: { memory: }`, /dialects\.memory must be an object, got null/],
    [`${A}\ndialects: { memory: a }`, /dialects\.memory must be an object, got "a"/],
    [`${A}\ndialects: { memory: {} }`, /dialects\.memory\.root is required/],
    [`${A}\ndialects: { classic: { root: 5 } }`, /dialects\.classic\.root must be a non-empty string, got 5/],
    [`${A}\ndialects: { classic: { root: "" } }`, /dialects\.classic\.root must be a non-empty string, got ""/],
    [`${A}\ndialects: { classic: { roots: a } }`, /did you mean dialects\.classic\.root\?/],
    [`${A}\ndialects: { classic: { root: a, path: b } }`, /unknown key: dialects\.classic\.path/],
    [`${A}\ndialects: { memory: { root: b } }`, /dialects\.memory\.root: unknown root "b".*known are a/],
    [
      'roots: [{ name: notes, path: a, allowed_tools: [] }]\ndialects: { memory: { root: note } }',
      /dialects\.memory\.root: unknown root "note" \(did you mean notes\?\); known are notes/,
    ],
    [`${A}\nport: "80"`, /port must be an integer from 0 to 65535, got "80"/],
    [`${A}\nport: 65536`, /port must be an integer from 0 to 65535, got 65536/],
    [`${A}\nport: 80.5`, /port must be an integer from 0 to 65535, got 80.5/],
    [`${A}\nhost: ""`, /host must be a non-empty string, got ""/],
    [`${A}\nlog_level: loud`, /log_level must be one of "error", "warn", "info", "debug", "trace", got "loud"/],
    [`${A}\nmax_full_read_size: 0`, /max_full_read_size must be an integer/],
    [`${A}\nrequest_timeout: -1`, /request_timeout must be a number above 0/],
    [`${A}\ndurable_writes: 1`, /durable_writes must be true or false, got 1/],
    ['roots: [{ path: a, allowed_tools: [] }]', /roots\[0\]\.name is required/],
    ['roots: [{ name: "", path: a, allowed_tools: [] }]', /roots\[0\]\.name must be/],
    ['roots: [{ name: 5, path: a, allowed_tools: [] }]', /roots\[0\]\.name must be .*got 5/],
    ['roots: [{ name: "a/b", path: a, allowed_tools: [] }]', /roots\[0\]\.name "a\/b" cannot name a root/],
    ['roots: [{ name: "a\\nb", path: a, allowed_tools: [] }]', /roots\[0\]\.name "a\\nb" cannot name a root/],
    ['roots: [{ name: a, allowed_tools: [] }]', /roots\[0\]\.path is required/],
    ['roots: [{ name: a, path: "", allowed_tools: [] }]', /roots\[0\]\.path must be a non-empty string/],
    ['roots: [{ name: a, path: a }]', /roots\[0\]\.allowed_tools is required/],
    ['roots: [{ name: a, path: a, allowed_tools: "*" }]', /roots\[0\]\.allowed_tools must be a list, got "\*"/],
    ['roots: [{ name: a, path: a, tools: [], allowed_tools: [] }]', /unknown key: roots\[0\]\.tools/],
    ['roots: [{ name: a, path: a, allowed_tool: [] }]', /did you mean roots\[0\]\.allowed_tools\?/],
    ['roots: [{ name: a, path: a, allowed_tools: [5] }]', /roots\[0\]\.allowed_tools\[0\] must be a string, got 5/],
    [
      'roots: [{ name: a, path: a, allowed_tools: [read_fiel] }]',
      /roots\[0\]\.allowed_tools\[0\]: unknown tool "read_fiel" \(did you mean read_file\?\)/,
    ],
    ['roots: [{ name: a, path: nope, allowed_tools: [] }]', /roots\[0\]\.path: the folder .*nope does not exist/],
    ['roots: [{ name: a, path: file.txt, allowed_tools: [] }]', /roots\[0\]\.path: .*file\.txt is not a folder/],
    ['roots: [{ name: a, path: file.txt/x, allowed_tools: [] }]', /roots\[0\]\.path: .* does not exist/],
    [
      `roots: [{ name: a, path: a, allowed_tools: [] }, { name: a, path: b, allowed_tools: [] }]`,
      /roots\[1\]\.name: duplicate root name "a"/,
    ],
  ])('%j', async (yaml, expected) => {
    const message = await problem(() => load(yaml));
    expect(message).toMatch(expected);
    expect(message.startsWith(`${file}: `)).toBe(true);
    expect(message).not.toContain('\n');
  });

  test('an alias bomb', async () => {
    const levels = Array.from({ length: 30 }, (_, i) => `l${i + 1}: &l${i + 1} [${`*l${i},`.repeat(9)}]`);
    expect(await problem(() => load(`l0: &l0 [x]\n${levels.join('\n')}`))).toMatch(/not valid YAML.*alias/);
  });

  test('a file that is not text', async () => {
    expect(await problem(() => load(Uint8Array.of(0x61, 0xff, 0xfe)))).toMatch(/not UTF-8/);
  });

  test('no file, and a folder in its place', async () => {
    expect(await problem(() => loadConfig(path.join(dir, 'missing.yaml')))).toMatch(
      /missing\.yaml: no such config file/,
    );
    expect(await problem(() => loadConfig(dir))).toMatch(/is a folder, not a config file/);
  });
});

describe('tokens', () => {
  const withAuth = (auth: string): string => `${A}\nauth: ${auth}`;

  test('are taken from the environment', async () => {
    fs.writeFileSync(file, withAuth('{ tokens: [{ name: ci, token_env: T, roots: [a] }] }'));
    const { auth } = await loadConfig(file, { T: 'hunter2-hunter2-hunter2' });
    expect(auth?.tokens).toMatchObject([{ name: 'ci', roots: ['a'] }]);
    expect(JSON.stringify(auth)).not.toContain('hunter2');
  });

  test.each([
    ['hunter2', /auth must be an object$/],
    ['{ tokens: hunter2 }', /auth\.tokens must be a non-empty list$/],
    ['{ tokens: [] }', /auth\.tokens must be a non-empty list$/],
    ['{ tokens: [hunter2] }', /auth\.tokens\[0\] must be an object$/],
    [
      '{ tokens: [{ name: x, token: hunter2, roots: [a] }] }',
      /unknown key: auth\.tokens\[0\]\.token; known are name, token_env/,
    ],
    ['{ tokens: [{ name: x, sha256: [hunter2], roots: [a] }] }', /auth\.tokens\[0\]\.sha256 must be a string$/],
    ['{ tokens: [{ name: x, token_env: T, roots: [] }] }', /auth\.tokens\[0\]\.roots must be a non-empty list$/],
    ['{ tokens: [{ name: x, token_env: T }] }', /auth\.tokens\[0\]\.roots is required$/],
    ['', /auth must be an object$/],
  ])('%j is refused without showing what may be a token', async (auth, expected) => {
    const message = await problem(() => load(withAuth(auth)));
    expect(message).toMatch(expected);
    expect(message).not.toContain('hunter2');
  });
});

describe('what a person has to agree to', () => {
  const confirming = (confirm: string) => `roots: [{ name: a, path: a, allowed_tools: ["*"], confirm: ${confirm} }]`;

  test('is named by tools, or "*" for all that change something', async () => {
    const named = await load(confirming('[remove_folder, copy]'));
    expect(named.roots).toMatchObject([{ confirm: ['remove_folder', 'copy'] }]);
    expect((await load(confirming('["*"]'))).roots).toMatchObject([{ confirm: CONFIRMABLE_CAPABILITIES }]);
  });

  test.each([
    ['[remove_foldr]', 'roots[0].confirm[0]: unknown tool "remove_foldr" (did you mean remove_folder?)'],
    [
      '[move, read_file]',
      'roots[0].confirm[1]: read_file changes nothing, so nobody can be asked about it; leave it out',
    ],
    ['remove_folder', 'roots[0].confirm'],
  ])('%s is refused', async (confirm, message) => {
    expect(await problem(() => load(confirming(confirm)))).toContain(message);
  });

  test('cannot be said of files of the client, which no tool changes', async () => {
    const agent = 'roots: [{ name: a, agent: {}, allowed_tools: ["*"], confirm: [copy] }]';
    expect(await problem(() => load(agent))).toContain('roots[0].confirm: is for folders of this machine');
  });
});

describe('the console', () => {
  const withToken = (more: string) =>
    `${A}\nconsole: { enabled: true }\nauth: { tokens: [{ name: x, sha256: ${'a'.repeat(64)}, roots: [a]${more} }] }`;

  test('is off unless it is enabled', async () => {
    expect((await load(A)).console).toBe(false);
    expect((await load(`${A}\nconsole: { enabled: false }`)).console).toBe(false);
    expect((await load(`${A}\nconsole: { enabled: true }`)).console).toBe(true);
  });

  test('needs a token that may use it, where there are tokens', async () => {
    const { console, auth } = await load(withToken(', console: true'));
    expect([console, auth?.tokens]).toMatchObject([true, [{ name: 'x', console: true }]]);
    const message = 'console.enabled: no token may use it; set console: true for one of auth.tokens';
    expect(await problem(() => load(withToken('')))).toContain(message);
    expect(await problem(() => load(withToken(', console: false')))).toContain(message);
  });
});
