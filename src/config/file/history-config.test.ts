import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { tempDir } from '../../../tests/support/temp-dir.ts';
import { DEFAULT_HISTORY } from '../../history/index.ts';
import { allowedOn, type LocalRootConfig } from '../config.ts';
import { ConfigError } from '../config-error.ts';
import { configFromDirs } from '../folders/config-from-dirs.ts';
import { withHistory } from '../with-history.ts';
import { loadConfig } from './load-config.ts';

const dir = tempDir();
const file = path.join(dir, 'ringfence.yaml');
fs.mkdirSync(path.join(dir, 'a'));

async function rootOf(keys: string): Promise<LocalRootConfig> {
  fs.writeFileSync(file, `roots: [{ name: a, path: a, allowed_tools: ["*"], ${keys} }]`);
  return (await loadConfig(file)).roots[0] as LocalRootConfig;
}

test.each([
  ['history: true', DEFAULT_HISTORY],
  ['history: {}', DEFAULT_HISTORY],
  ['history: false', undefined],
  ['deny: []', undefined],
  ['history: { keep: 12h }', { ...DEFAULT_HISTORY, keepMs: 12 * 3_600_000 }],
  ['history: { keep: 90 }', { ...DEFAULT_HISTORY, keepMs: 90_000 }],
  ['history: { max_bytes: 500MB }', { ...DEFAULT_HISTORY, maxBytes: 500 * 1024 ** 2 }],
  ['history: { max_bytes: 1000, over: refuse }', { ...DEFAULT_HISTORY, maxBytes: 1000, over: 'refuse' }],
])('%s', async (keys, history) => {
  expect((await rootOf(keys)).history).toEqual(history);
});

test.each([
  ['history: yes please', 'roots[0].history must be true or false or an object, got "yes please"'],
  ['history: { kep: 7d }', 'unknown key: roots[0].history.kep (did you mean roots[0].history.keep?)'],
  ['history: { keep: 7 days }', 'roots[0].history.keep must be a duration above 0 such as 7d, 12h or 30m'],
  ['history: { keep: 0 }', 'roots[0].history.keep must be a duration above 0'],
  ['history: { keep: [] }', 'roots[0].history.keep must be a number or a string, got a list'],
  ['history: { max_bytes: much }', 'roots[0].history.max_bytes must be a size above 0 such as 1GB or 500MB'],
  ['history: { over: keep }', 'roots[0].history.over must be one of "allow", "refuse", got "keep"'],
  ['history: true, read_only: true', 'roots[0].history: nothing in this root may be changed (read_only)'],
])('%s is refused', async (keys, problem) => {
  await expect(rootOf(keys)).rejects.toThrow(ConfigError);
  await expect(rootOf(keys)).rejects.toThrow(problem);
});

test('a root that may only be read has no history', async () => {
  fs.writeFileSync(file, 'roots: [{ name: a, path: a, allowed_tools: [read_file, list_changes], history: true }]');
  await expect(loadConfig(file)).rejects.toThrow(
    'roots[0].history: nothing in this root may be changed (allowed_tools), so there is nothing to keep; leave it out',
  );
});

test('nor does a root of files on the side of the client', async () => {
  fs.writeFileSync(file, 'roots: [{ name: a, agent: {}, allowed_tools: ["*"], history: true }]');
  await expect(loadConfig(file)).rejects.toThrow("files on the client's side are only read");
});

test('what needs a history is allowed only where there is one', async () => {
  expect(allowedOn(await rootOf('history: true'))).toEqual(expect.arrayContaining(['list_changes', 'undo_change']));
  const without = allowedOn(await rootOf('deny: []'));
  expect(without.filter((tool) => ['list_changes', 'undo_change', 'write_file'].includes(tool))).toEqual([
    'write_file',
  ]);
});

test('--history gives all folders the history that is kept by default', () => {
  expect(withHistory(configFromDirs([path.join(dir, 'a')])).roots).toMatchObject([{ history: DEFAULT_HISTORY }]);
});

test('replicas keep no history, and say so at the start', async () => {
  process.env.RINGFENCE_TEST_SECRET = 'x'.repeat(32);
  const cluster = 'cluster: { secret_env: RINGFENCE_TEST_SECRET, redis: "redis://127.0.0.1" }';
  fs.writeFileSync(file, `roots: [{ name: a, path: a, allowed_tools: ["*"], history: true }]\n${cluster}`);
  await expect(loadConfig(file)).rejects.toThrow(
    /ringfence\.yaml: roots\[0\]\.history: cannot be kept together with cluster, because/,
  );
  fs.writeFileSync(file, `roots: [{ name: a, path: a, allowed_tools: ["*"] }]\n${cluster}`);
  const config = await loadConfig(file);
  expect(() => withHistory(config)).toThrow(ConfigError);
});

test('a token says whose changes it may undo', async () => {
  const token = (undo: string) => `{ name: t, sha256: ${'a'.repeat(64)}, roots: [a]${undo} }`;
  const load = async (undo: string) => {
    fs.writeFileSync(file, `roots: [{ name: a, path: a, allowed_tools: ["*"] }]\nauth: { tokens: [${token(undo)}] }`);
    return (await loadConfig(file)).auth?.tokens[0]?.undo;
  };
  expect([await load(''), await load(', undo: own'), await load(', undo: all')]).toEqual([undefined, 'own', 'all']);
  await expect(load(', undo: some')).rejects.toThrow('auth.tokens[0].undo must be one of "own", "all"');
});
