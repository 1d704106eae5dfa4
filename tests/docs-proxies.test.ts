import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { itemsOf, pageText } from './support/docs/doc-pages.ts';
import { freePort } from './support/free-port.ts';
import { startServer, type TestServer } from './support/start-server.ts';
import { tempDir } from './support/temp-dir.ts';

const TOKEN = 'a-token-that-only-tests-have';
const PAGE = 'docs/how-to/reverse-proxy.md';
const CLIENT = fileURLToPath(new URL('./support/docs/tls-client.js', import.meta.url));

const blocks = itemsOf(pageText(PAGE)).flatMap((item) => (item.kind === 'block' ? [item] : []));
const has = (program: string): boolean => spawnSync(program, ['-v']).error === undefined;
const why = (program: string): string => (has(program) ? '' : ` (${program} is not installed)`);

let folder: string;
let server: TestServer;
let certificate: string;

beforeAll(async () => {
  folder = tempDir('ringfence-proxy-');
  const at = (name: string): string => path.join(folder, name);
  certificate = at('certificate.pem');
  const subject = [
    '-subj',
    '/CN=localhost',
    '-addext',
    'subjectAltName=DNS:localhost,DNS:files.example.org',
    '-days',
    '2',
  ];
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', at('key.pem'), '-out', certificate, ...subject],
    { stdio: 'pipe' },
  );
  fs.writeFileSync(at('both.pem'), fs.readFileSync(certificate, 'utf8') + fs.readFileSync(at('key.pem'), 'utf8'));
  fs.mkdirSync(at('project'));
  for (let index = 0; index < 300; index += 1) fs.writeFileSync(at(`project/${index}.txt`), `line of ${index}\n`);
  server = await startServer({
    roots: [{ name: 'project', path: at('project') }],
    config: { auth: { tokens: [{ name: 'team', token_env: 'TEAM_TOKEN', roots: ['project'] }] } },
    env: { TEAM_TOKEN: TOKEN },
    token: TOKEN,
  });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  fs.rmSync(folder, { recursive: true, force: true });
});

/** The config on the page, with the files, ports and server of this test. */
async function configOf(language: string): Promise<{ config: string; port: number }> {
  const [block, ...more] = blocks.filter((each) => each.language === language);
  expect([block?.text, more]).toEqual([expect.any(String), []]);
  const port = await freePort();
  const config = (block as { text: string }).text
    .replaceAll('127.0.0.1:8091', new URL(server.url).host)
    .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
    .replace('bind :443', `bind 127.0.0.1:${port}`)
    .replace(/\S+fullchain\.pem/, `${folder}/certificate.pem`)
    .replace(/\S+privkey\.pem/, `${folder}/key.pem`)
    .replace(/\/etc\/haproxy\/\S+\.pem/, `${folder}/both.pem`);
  expect(config).toContain(String(port));
  return { config, port };
}

/** What a client that speaks TLS to the proxy gets: its tools, a large write, and events while a call runs. */
async function answersThrough(port: number): Promise<unknown> {
  for (let left = 100; left > 0; left -= 1) {
    const { status } = spawnSync('curl', ['-sf', '--cacert', certificate, `https://localhost:${port}/health`]);
    if (status === 0) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: certificate };
  const text = execFileSync(process.execPath, [CLIENT, `https://localhost:${port}/mcp`, TOKEN], {
    env,
    encoding: 'utf8',
  });
  // A name that is not loopback: the server refuses it (403) unless the proxy sends the server's own.
  const named = ['--resolve', `files.example.org:${port}:127.0.0.1`, `https://files.example.org:${port}/mcp`];
  const quiet = ['-s', '-o', '/dev/null', '-w', '%{http_code}', '--cacert', certificate];
  return { ...JSON.parse(text), withoutToken: execFileSync('curl', [...quiet, ...named], { encoding: 'utf8' }) };
}

const WORKS = { tools: true, written: 3_000_000, event: 'retry: ', withoutToken: '401' };

async function whileRunning(child: ChildProcess, work: () => Promise<void>): Promise<void> {
  const closed = once(child, 'close');
  try {
    await work();
  } finally {
    child.kill('SIGTERM');
    await closed;
  }
}

describe('the proxies in front of a server', () => {
  test.skipIf(!has('nginx'))(
    `nginx accepts its config, and a client works through it${why('nginx')}`,
    async () => {
      const { config, port } = await configOf('nginx');
      const file = path.join(folder, 'nginx.conf');
      const temps = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (kind) => `${kind}_temp_path ${folder}/${kind};`,
      );
      const user = process.getuid?.() === 0 ? 'user root; ' : '';
      const main = `${user}daemon off; error_log stderr; pid ${folder}/nginx.pid; events {}`;
      fs.writeFileSync(file, `${main}\nhttp { access_log off; ${temps.join(' ')}\n${config}\n}\n`);
      const args = ['-p', folder, '-c', file];
      const { status, stderr } = spawnSync('nginx', ['-t', ...args], { encoding: 'utf8' });
      expect(status, stderr).toBe(0);
      await whileRunning(spawn('nginx', args, { stdio: 'ignore' }), async () => {
        expect(await answersThrough(port)).toEqual(WORKS);
      });
    },
    60_000,
  );

  test.skipIf(!has('haproxy'))(
    `HAProxy accepts its config, and a client works through it${why('haproxy')}`,
    async () => {
      const { config, port } = await configOf('haproxy');
      const file = path.join(folder, 'haproxy.cfg');
      fs.writeFileSync(file, config);
      const { status, stderr } = spawnSync('haproxy', ['-c', '-f', file], { encoding: 'utf8' });
      expect(status, stderr).toBe(0);
      await whileRunning(spawn('haproxy', ['-db', '-f', file], { stdio: 'ignore' }), async () => {
        expect(await answersThrough(port)).toEqual(WORKS);
      });
    },
    60_000,
  );

  test.skipIf(!has('caddy'))(`Caddy accepts its config${why('caddy')}`, () => {
    const file = path.join(folder, 'Caddyfile');
    fs.writeFileSync(file, blocks.find(({ language }) => language === 'caddyfile')?.text ?? '');
    const { status, stderr } = spawnSync('caddy', ['validate', '--config', file], { encoding: 'utf8' });
    expect(status, stderr).toBe(0);
  });
});
