import http from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConsoleServer, ConsoleUser, TOKENS, type TokenName } from '../support/console-server.ts';
import { startServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';

let server: ConsoleServer;
beforeAll(async () => {
  server = await ConsoleServer.start();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const READS = [
  ...['state', 'figures', 'calls?limit=10', 'events'],
  ...['history/code?limit=1', 'history/code/abc', 'review/code', 'nothing'],
];
const WRITES = ['sign-out', 'running/1/stop', 'approvals/1', 'history/code/undo', 'review/code', 'nothing'];

/** Sends a request as it is, without what `fetch` would correct. */
function raw(path: string, headers: Record<string, string> = {}, method = 'GET') {
  return new Promise<{ status: number; headers: http.IncomingHttpHeaders; text: string }>((resolve, reject) => {
    const request = http.request(server.base, { path, method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    });
    request.on('error', reject).end();
  });
}

describe('who is not signed in', () => {
  test.each(READS)('cannot read %s', async (at) => {
    expect((await new ConsoleUser(server.base).get(at)).status).toBe(401);
  });

  test.each(WRITES)('cannot do %s', async (at) => {
    expect((await new ConsoleUser(server.base).post(at)).status).toBe(401);
  });

  test('gets nowhere with a bearer token, or with a cookie that was not issued', async () => {
    const user = new ConsoleUser(server.base);
    expect((await user.get('state', { authorization: `Bearer ${TOKENS.operator}` })).status).toBe(401);
    for (const value of ['', 'x', 'a'.repeat(43), '__proto__', 'constructor']) {
      user.cookie = `ringfence_console=${value}`;
      expect((await user.get('state')).status).toBe(401);
    }
  });
});

describe('sign-in', () => {
  test('takes a token for people, and says who it is', async () => {
    const { status, body } = await new ConsoleUser(server.base).post('sign-in', { token: TOKENS.writer });
    const me = { name: 'writer', roots: ['docs'], may_undo: true };
    expect([status, body]).toEqual([200, { key: expect.stringMatching(/^[\w-]{43}$/), me }]);
  });

  test.each<[string, unknown, number, string]>([
    ['that of an agent', TOKENS.agent, 403, 'this token is not for the console; use one that has console: true'],
    ['an unknown one', 'no-such-token-0123456789', 401, 'this token is not known here'],
    ['none', undefined, 401, 'this token is not known here'],
    ['no text', { $ne: '' }, 401, 'this token is not known here'],
  ])('refuses %s', async (_, token, status, error) => {
    const answer = await new ConsoleUser(server.base).post('sign-in', { token });
    expect([answer.status, answer.body]).toEqual([status, { error }]);
    expect(answer.headers.getSetCookie()).toEqual([]);
  });

  test('sets a cookie that no script can read and no other site can send', async () => {
    const sign = async (headers: Record<string, string>) => {
      const answer = await new ConsoleUser(server.base).post('sign-in', { token: TOKENS.writer }, headers);
      return answer.headers.getSetCookie()[0]?.replace(/=[\w-]{43};/, '=ID;');
    };
    const flags = 'ringfence_console=ID; Path=/console; Max-Age=43200; HttpOnly; SameSite=Strict';
    expect(await sign({})).toBe(flags);
    expect(await sign({ 'x-forwarded-proto': 'https' })).toBe(`${flags}; Secure`);
  });

  test('ends with the sign-out, and so do its event streams', async () => {
    const user = await server.signIn('operator');
    const { cookie } = user;
    using events = await user.events();
    expect(events.status).toBe(200);
    const out = await user.post('sign-out');
    expect([out.status, out.headers.getSetCookie()[0]]).toEqual([204, expect.stringContaining('Max-Age=0')]);
    expect(await events.rest()).toBeInstanceOf(Array);
    user.cookie = cookie;
    expect((await user.get('state')).status).toBe(401);
  });

  test('is refused for a while after too many failures, also with a right token', async () => {
    await using other = await ConsoleServer.start();
    const user = new ConsoleUser(other.base);
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 12; attempt += 1) {
      statuses.push((await user.post('sign-in', { token: `wrong-token-${attempt}` })).status);
    }
    expect(statuses.slice(0, 10)).toEqual(Array(10).fill(401));
    expect(statuses.at(-1)).toBe(429);
    const late = await user.post('sign-in', { token: TOKENS.operator });
    expect([late.status, Number(late.headers.get('retry-after'))]).toEqual([429, expect.any(Number)]);
    expect(late.body.error).toMatch(/^too many attempts; try again in \d seconds$/);
  });
});

describe('a forged request', () => {
  const ours = () => new URL(server.base).host;
  test.each<[string, () => Record<string, string>, number]>([
    ['without the header of the page', () => ({ 'x-ringfence-console': '' }), 403],
    ['of another site', () => ({ 'sec-fetch-site': 'cross-site' }), 403],
    ['of another port', () => ({ 'sec-fetch-site': 'same-site' }), 403],
    ['of another origin', () => ({ origin: 'https://evil.example' }), 403],
    ['of no origin', () => ({ origin: 'null' }), 403],
    ['of an origin that begins like ours', () => ({ origin: `http://${ours()}.evil.example` }), 403],
    ['of the page itself', () => ({ 'sec-fetch-site': 'same-origin', origin: `http://${ours()}` }), 404],
    ['of the page over plain HTTP', () => ({ origin: `http://${ours()}` }), 404],
    // Behind a proxy that passes on another Host, what the browser says counts.
    ['of the page at a public name', () => ({ 'sec-fetch-site': 'same-origin', origin: 'https://rf.example' }), 404],
  ])('%s', async (_, headers, status) => {
    const user = await server.signIn('operator');
    expect((await user.post('running/999/stop', {}, headers())).status).toBe(status);
  });

  test('cannot be sent by a form, which cannot set headers', async () => {
    const user = await server.signIn('operator');
    const headers = { cookie: user.cookie, 'content-type': 'text/plain' };
    const answer = await fetch(`${server.base}/console/api/sign-out`, { method: 'POST', headers, body: '{}' });
    expect(answer.status).toBe(403);
    expect((await user.get('state')).status).toBe(200);
  });

  test('with the cookie alone, as a server on another port of this host gets it, is refused', async () => {
    const user = await server.signIn('operator');
    const thief = new ConsoleUser(server.base);
    thief.cookie = user.cookie;
    for (const key of ['none', '', user.key.slice(1), (await server.signIn('operator')).key]) {
      thief.key = key;
      expect((await thief.get('state')).status).toBe(401);
      expect([401, 403]).toContain((await thief.post('running/999/stop')).status);
      using events = await thief.events();
      expect(events.status).toBe(401);
    }
    thief.key = user.key;
    expect((await thief.get('state')).status).toBe(200);
  });

  test('does not open MCP to foreign pages', async () => {
    const headers = { origin: 'https://rf.example', 'sec-fetch-site': 'same-origin', 'x-ringfence-console': '1' };
    expect((await raw('/mcp', headers, 'POST')).status).toBe(403);
    expect((await raw('/mcp', { host: 'rf.example' }, 'POST')).status).toBe(403);
  });
});

describe('the page', () => {
  test.each([
    ['/console', 'text/html; charset=utf-8'],
    ['/console/', 'text/html; charset=utf-8'],
    ['/console/app.js', 'text/javascript; charset=utf-8'],
    ['/console/app.css', 'text/css; charset=utf-8'],
    ['/console/icon.svg', 'image/svg+xml'],
  ])('%s', async (path, type) => {
    const { status, headers } = await raw(path);
    expect([status, headers['content-type']]).toEqual([200, type]);
    expect(headers['content-security-policy']).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    );
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' });
    const again = await raw(path, { 'if-none-match': headers.etag ?? '' });
    expect([again.status, again.text]).toEqual([304, '']);
  });

  test('is compressed for whoever takes that', async () => {
    const { headers, text } = await raw('/console/app.js', { 'accept-encoding': 'br, gzip' });
    expect(headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' });
    expect(text.length).toBeLessThan((await raw('/console/app.js')).text.length / 2);
    expect((await raw('/console/app.js', { 'accept-encoding': 'gzip;q=0' })).headers['content-encoding']).toBe(
      undefined,
    );
  });

  test.each([
    '/console/../package.json',
    '/console/../../package.json',
    '/console/..%2f..%2fpackage.json',
    '/console/%2e%2e/package.json',
    '/console//etc/passwd',
    '/console/app.js/../../bin.js',
    '/console/app.js%00.html',
    '/console/..\\..\\package.json',
    '/console/server/console/api.js',
    '/console/%',
    '/console/api/history/%E0%A4%A',
  ])('has no file outside: %s', async (path) => {
    const { status, text, headers } = await raw(path);
    expect([400, 401, 404]).toContain(status);
    expect(text).not.toContain('"version"');
    expect(headers['content-security-policy']).toContain("default-src 'none'");
  });

  test('takes no other methods', async () => {
    expect((await raw('/console', {}, 'DELETE')).status).toBe(405);
    expect((await raw('/console', {}, 'POST')).status).toBe(404);
    expect((await raw('/console/app.js', {}, 'HEAD')).text).toBe('');
  });
});

describe('another config', () => {
  const roots = [{ name: 'code', path: tempDir() }];

  test('without the console serves none', async () => {
    await using off = await startServer({ roots });
    const answer = await fetch(new URL('/console', off.url));
    expect([answer.status, await answer.text()]).toEqual([404, expect.stringContaining('Not found')]);
  });

  test('without tokens serves no console, but says how to set it up', async () => {
    await using open = await startServer({ roots, config: { console: { enabled: true } } });
    for (const path of ['/console', '/console/app.js', '/console/api/state', '/console/api/sign-in']) {
      const answer = await fetch(new URL(path, open.url), { method: path.endsWith('in') ? 'POST' : 'GET' });
      expect([answer.status, await answer.text()]).toEqual([403, expect.stringContaining('console: true }')]);
    }
  });
});

test('bodies are bounded and checked', async () => {
  const user = await server.signIn('operator');
  expect((await user.post('review/code', { id: 'x'.repeat(70_000) })).status).toBe(413);
  const bad: [string, object][] = [
    ['review/code', { id: '1.', decision: 'burn', files: 'all' }],
    ['review/code', { id: '1.', decision: 'accept', files: [] }],
    ['history/code/undo', { change: 1 }],
    ['approvals/x', { answer: 'yes' }],
    ['approvals/x', [] as object],
  ];
  for (const [at, body] of bad) expect((await user.post(at, body)).status).toBe(400);
  for (const at of ['calls?limit=0', 'calls?limit=x', 'calls?before=-1', 'history/code?limit=1.5']) {
    expect((await user.get(at)).status).toBe(400);
  }
});

test('tokens and cookies do not reach the log', async () => {
  const user = await server.signIn('operator');
  await user.post('sign-in', { token: 'wrong-token-for-the-log' });
  const log = server.server.stderr();
  for (const name of Object.keys(TOKENS) as TokenName[]) expect(log).not.toContain(TOKENS[name]);
  expect(log).not.toContain('wrong-token-for-the-log');
  expect(log).not.toContain(user.cookie.split('=')[1]);
});
