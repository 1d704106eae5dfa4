import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import type { Config, RootConfig } from '../config/config.ts';
import { defaultConfig } from '../config/defaults.ts';
import { CAPABILITIES, READING_CAPABILITIES } from '../tools/capabilities.ts';
import { landlockPolicy } from './policy.ts';

const folder = (name: string, allowed: RootConfig['allowed']): RootConfig => ({
  name,
  path: `/srv/${name}`,
  allowed,
  origin: '',
});
const agent = { allowedPaths: undefined, cacheBytes: 1, timeout: 1 };

function config(changed: Partial<Config>): Config {
  return { ...defaultConfig(), roots: [], ...changed };
}

function access(changed: Partial<Config>, listens = false): Map<string, string> {
  return new Map(landlockPolicy(config(changed), { listens }).paths.map((rule) => [rule.path, rule.access]));
}

test('a root may be written if anything that it allows changes files', () => {
  const rules = access({
    roots: [
      folder('all', CAPABILITIES),
      folder('append', ['write_file']),
      folder('read', READING_CAPABILITIES),
      folder('copied', ['read_file', 'copy']),
      folder('nothing', []),
      { ...folder('kept', CAPABILITIES), readOnly: true } as RootConfig,
      { name: 'laptop', agent, allowed: ['read_file'], origin: '' },
    ],
  });
  const roots = [...rules].filter(([name]) => name.startsWith('/srv/'));
  expect(Object.fromEntries(roots)).toEqual({
    '/srv/all': 'write',
    '/srv/append': 'write',
    '/srv/read': 'read',
    '/srv/copied': 'write',
    '/srv/nothing': 'read',
    '/srv/kept': 'read',
  });
});

test('the config file and this package may be read, but nothing above the one or the other', () => {
  const rules = access({ file: '/etc/ringfence/config.yaml' });
  expect(rules.get('/etc/ringfence/config.yaml')).toBe('open');
  const top = fs.realpathSync(path.join(import.meta.dirname, '../..'));
  const modules = [...rules.keys()].filter((name) => name === top || name.endsWith('/node_modules'));
  expect(modules.length).toBeGreaterThan(0);
  expect([...rules.values()].filter((kind) => kind === 'write')).toHaveLength(1);
  expect([...rules.keys()].filter((name) => ['/', '/etc', path.dirname(top)].includes(name))).toEqual([]);
});

test.each([
  ['/etc/ringfence/c.yaml', '/etc/ringfence', undefined],
  ['/etc/c.yaml', undefined, undefined],
  [path.join(os.homedir(), 'c.yaml'), undefined, undefined],
  [path.join(os.tmpdir(), 'c.yaml'), undefined, undefined],
  ['/etc/ringfence/c.yaml', undefined, '/etc/ringfence/workspace'],
])('a new config file %s, and log file, may be used in their folder if that is their own: %s', (file, own, root) => {
  const roots: RootConfig[] = root === undefined ? [] : [{ name: 'r', path: root, allowed: CAPABILITIES, origin: '' }];
  for (const [key, kind] of [
    ['file', 'open'],
    ['logFile', 'append'],
  ] as const) {
    const rules = access({ [key]: file, roots });
    expect([...rules].filter(([, access]) => access === kind)).toEqual(
      [file, own].flatMap((name) => (name === undefined ? [] : [[name, kind]])),
    );
  }
});

test.each([
  ['127.0.0.1', true, false],
  ['::', true, false],
  ['localhost', true, true],
  ['localhost', false, false],
])('names are looked up for %s, listening %s: %s', (host, listens, looksUp) => {
  expect(access({ host }, listens).has('/etc/resolv.conf')).toBe(looksUp);
});

test('only a server that listens may listen, on its port', () => {
  expect(landlockPolicy(config({ port: 8091 }), { listens: true }).port).toBe(8091);
  expect(landlockPolicy(config({ port: 8091 }), { listens: false }).port).toBeUndefined();
});

test('only a replica may connect, to the port of Redis, whose name it looks up', () => {
  const policy = (redis?: string) =>
    landlockPolicy(config({ host: '127.0.0.1', ...(redis && { cluster: { secrets: ['x'], redis } }) }), {
      listens: true,
    });
  expect(policy().connectPort).toBeUndefined();
  expect(policy('redis://127.0.0.1').connectPort).toBe(6379);
  expect(policy('rediss://:p@[::1]:7000/1').connectPort).toBe(7000);
  const looksUp = (redis: string) => policy(redis).paths.some(({ path: name }) => name === '/etc/resolv.conf');
  expect(['redis://127.0.0.1', 'redis://[::1]', 'redis://redis'].map(looksUp)).toEqual([false, false, true]);
});

test('a replica reads the certificates that it is told to trust, if it needs some', () => {
  vi.stubEnv('NODE_EXTRA_CA_CERTS', '/etc/redis-ca.pem');
  const reads = (redis: string) =>
    landlockPolicy(config({ cluster: { secrets: ['x'], redis } }), { listens: true }).paths.some(
      ({ path: name, access }) => name === '/etc/redis-ca.pem' && access === 'read',
    );
  expect(['redis://127.0.0.1', 'rediss://127.0.0.1'].map(reads)).toEqual([false, true]);
  vi.stubEnv('NODE_EXTRA_CA_CERTS', undefined);
  expect(reads('rediss://127.0.0.1')).toBe(false);
  vi.unstubAllEnvs();
});
