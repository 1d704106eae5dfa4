// Takes the pictures of the console in docs/images/console, in light, dark and phone width, of a server with agents that work on a
// small project. Run by hand after `npm run build`; takes a minute and a half. Needs Chromium, at CHROMIUM or /usr/bin/chromium.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { chromium } from 'playwright-core';

const top = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const folder = mkdtempSync(path.join(os.tmpdir(), 'ringfence-screenshots-'));
const WORK_MS = 75_000;
const ARGS = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking'],
  ...['--disable-component-update', '--disable-sync', '--no-first-run'],
];
const TOKENS = {
  operator: 'operator-of-the-screenshots',
  'claude-code': 'agent-of-the-screenshots-1',
  ci: 'agent-of-the-screenshots-2',
};

const SERVER = `import http from 'node:http';
import { route } from './routes.js';

const port = Number(process.env.PORT ?? 8080);

const server = http.createServer((request, response) => {
  route(request, response);
});

server.listen(port);
`;
const SERVER_AFTER = SERVER.replace('8080', '3000').replace(
  'server.listen(port);',
  "server.listen(port, () => {\n  console.log('listening on port', port);\n});",
);
const FILES = {
  'src/server.js': SERVER,
  'src/routes.js': 'export function route(request, response) {\n  response.end("hello");\n}\n',
  'src/store.js': 'const entries = new Map();\n\nexport const get = (key) => entries.get(key);\n',
  'tests/routes.test.js': "import { test } from 'node:test';\n\ntest('says hello', () => {});\n",
  'package.json': '{ "name": "greeter", "type": "module" }\n',
  'README.md': '# Greeter\n\nSays hello.\n',
  'old/draft.md': 'An old draft.\n',
};

const server = await startServer();
try {
  await takePictures(server.base);
} finally {
  server.child.kill();
  await once(server.child, 'close');
  rmSync(folder, { recursive: true, force: true });
}

async function startServer() {
  for (const root of ['greeter', 'handbook']) mkdirSync(path.join(folder, root));
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(path.dirname(path.join(folder, 'greeter', name)), { recursive: true });
    writeFileSync(path.join(folder, 'greeter', name), text);
  }
  for (const name of ['welcome.md', 'holidays.md', 'on-call.md'])
    writeFileSync(path.join(folder, 'handbook', name), `# ${name}\n`);
  writeFileSync(path.join(folder, 'greeter/dump.bin'), '');
  truncateSync(path.join(folder, 'greeter/dump.bin'), 400 * 1024 ** 3);
  const tokens = Object.keys(TOKENS).map((name) => ({
    name,
    token_env: `TOKEN_${name.replace('-', '_').toUpperCase()}`,
    roots: name === 'ci' ? ['greeter'] : ['greeter', 'handbook'],
    ...(name === 'operator' && { console: true }),
  }));
  const rules = { deny: ['.env'], confirm: ['remove_folder'], history: { keep: '7d', max_bytes: '1GB' } };
  const config = {
    host: '127.0.0.1',
    port: 0,
    request_timeout: 3600,
    console: { enabled: true },
    auth: { tokens },
    roots: [
      { name: 'greeter', path: './greeter', allowed_tools: ['*'], ...rules },
      { name: 'handbook', path: './handbook', allowed_tools: ['*'], read_only: true },
    ],
  };
  // JSON is YAML.
  writeFileSync(path.join(folder, 'ringfence.yaml'), JSON.stringify(config));
  const env = Object.fromEntries(tokens.map(({ name, token_env }) => [token_env, TOKENS[name]]));
  const args = [path.join(top, 'dist/bin.js'), 'serve', '--config', path.join(folder, 'ringfence.yaml')];
  const child = spawn(process.execPath, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  for await (const chunk of child.stderr) {
    log += chunk;
    const url = /"url":"([^"]+)\/mcp"/.exec(log)?.[1];
    if (url === undefined) continue;
    child.stderr.on('data', () => {});
    return { child, base: url };
  }
  throw new Error(log);
}

async function connect(base, token, name) {
  const client = new Client({ name, version: '1.0.0' });
  const headers = { authorization: `Bearer ${TOKENS[token]}` };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', base), { requestInit: { headers } }));
  return (tool, args) => client.callTool({ name: tool, arguments: args }, { timeout: 3_600_000 }).catch(() => {});
}

/** What agents do all the time: mostly reading, now and then something that is refused. */
async function work(base, until) {
  const [code, ci] = [await connect(base, 'claude-code', 'claude-code'), await connect(base, 'ci', 'ci-runner')];
  const names = Object.keys(FILES).filter((name) => !/^(old|tests)\//.test(name));
  for (let round = 0; Date.now() < until; round += 1) {
    const busy = 1 + Math.round(3 + 3 * Math.sin(round / 9));
    for (let index = 0; index < busy; index += 1) {
      const name = names[(round + index) % names.length];
      await code('read_file', { root: 'greeter', path: name });
      if (index % 2 === 0) await code('grep', { root: 'greeter', pattern: 'export' });
      if (index % 3 === 0) await ci('list_folder', { root: 'greeter', path: 'src' });
    }
    await ci('glob', { root: 'greeter', pattern: '**/*.js' });
    if (round % 7 === 0) await code('read_file', { root: 'handbook', path: 'on-call.md' });
    if (round % 11 === 3) await ci('read_file', { root: 'greeter', path: 'dist/missing.js' });
    if (round % 40 === 20) await ci('read_file', { root: 'greeter', path: '../../etc/passwd' });
    await sleep(350);
  }
}

/** What is there to review. */
async function change(base) {
  const code = await connect(base, 'claude-code', 'claude-code');
  const write = (name, content) => code('write_file', { root: 'greeter', path: name, content, mode: 'overwrite' });
  await write('src/server.js', SERVER_AFTER);
  await write('src/health.js', "export const health = () => 'ok';\n");
  await code('remove_file', { root: 'greeter', path: 'tests/routes.test.js' });
  await code('edit_file', {
    root: 'greeter',
    path: 'README.md',
    edits: [{ old_text: 'Says hello.', new_text: 'Says hello, and how it is.' }],
  });
  return code;
}

async function takePictures(base) {
  const code = await change(base);
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ARGS });
  const working = work(base, Date.now() + WORK_MS);
  const open = async (options) => {
    const context = await browser.newContext({ viewport: { width: 1180, height: 720 }, locale: 'en-GB', ...options });
    const page = await context.newPage();
    await page.goto(`${base}/console`);
    if (options.signedOut) return page;
    await page.getByLabel('Token').fill(TOKENS.operator);
    await page.keyboard.press('Enter');
    await page.getByText('Connected').waitFor();
    return page;
  };
  const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
  const [light, dark, small] = [await open({}), await open({ colorScheme: 'dark' }), await open(phone)];
  await sleep(WORK_MS - 12_000);
  void code('hash_file', { root: 'greeter', path: 'dump.bin', algorithm: 'sha256' });
  void code('remove_folder', { root: 'greeter', path: 'old' });
  await light.getByRole('button', { name: /^Allow/ }).waitFor();
  await light.getByRole('button', { name: /^Stop hash_file/ }).waitFor();
  await sleep(1_500);
  await save(light, 'live');
  await save(dark, 'live-dark');
  await save(small, 'live-phone');
  for (const page of [light, small]) {
    await page.getByRole('tab', { name: /Calls/ }).click();
    await page.getByRole('row').nth(5).waitFor();
  }
  await light.getByLabel('Outcome').selectOption('error');
  await light
    .getByRole('row', { name: /passwd/ })
    .first()
    .click();
  await save(light, 'calls');
  await save(small, 'calls-phone');
  await dark.getByRole('tab', { name: /History/ }).click();
  await dark.getByRole('tab', { name: 'Review' }).click();
  await dark.getByText(/differences to review/).waitFor();
  await save(dark, 'review-dark');
  await light.getByRole('tab', { name: /Roots/ }).click();
  await light.getByRole('region', { name: 'Root handbook' }).waitFor();
  await save(light, 'roots');
  await working;
  await browser.close();
}

async function save(page, name) {
  // Nothing may move while it is taken.
  await page.mouse.move(0, 0);
  await sleep(400);
  const file = path.join(top, 'docs/images/console', `${name}.png`);
  await page.screenshot({ path: file });
  console.log(`${name}: ${Math.round(statSync(file).size / 1000)} KB`);
}
