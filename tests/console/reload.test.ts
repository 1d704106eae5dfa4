import { createHash } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { ConsoleUser } from '../support/console-server.ts';
import { ReloadableServer } from '../support/reloadable-server.ts';
import { tempDir } from '../support/temp-dir.ts';

const base = tempDir('ringfence-console-reload-');
afterAll(() => fs.rmSync(base, { recursive: true, force: true }));

const SECRETS = {
  agent: 'agent-secret-0123456789',
  operator: 'operator-secret-0123456',
  writer: 'writer-secret-01234567',
};
type Name = keyof typeof SECRETS;

let place: string;
beforeEach(() => {
  place = fs.mkdtempSync(path.join(base, 'case-'));
  for (const name of ['code', 'docs']) fs.mkdirSync(path.join(place, name));
});

/** A config with these roots for the agent and the operator; the writer has `docs` alone. */
function configWith(roots: readonly string[], names: readonly Name[] = ['agent', 'operator', 'writer']) {
  const tokens = names.map((name) => ({
    name,
    sha256: createHash('sha256').update(SECRETS[name]).digest('hex'),
    roots: name === 'writer' ? ['docs'] : roots,
    ...(name !== 'agent' && { console: true }),
  }));
  const served = roots.map((name) => ({ name, path: path.join(place, name), allowed_tools: ['*'], history: {} }));
  return { hardening: { landlock: 'off' }, console: { enabled: true }, auth: { tokens }, roots: served };
}

async function signIn(server: ReloadableServer, name: Name): Promise<ConsoleUser> {
  const user = new ConsoleUser(new URL(await server.url()).origin);
  expect((await user.post('sign-in', { token: SECRETS[name] })).status).toBe(200);
  return user;
}

test('calls in a root that is removed are not shown to those who could not see it', async () => {
  await using server = new ReloadableServer(configWith(['code', 'docs']), {});
  await using agent = await server.connect({ token: SECRETS.agent });
  const writer = await signIn(server, 'writer');
  await agent.ok('write_file', { root: 'code', path: 'merger-plans.txt', content: 'x' });
  await agent.ok('write_file', { root: 'docs', path: 'a.txt', content: 'x' });
  expect(await server.reload(configWith(['docs']))).toMatchObject({ roots_removed: ['code'] });
  await agent.ok('read_file', { root: 'docs', path: 'a.txt' });
  const { calls } = await writer.until('calls', (body) => body.calls[0]?.tool === 'read_file');
  expect(calls.map((call: { path: string }) => call.path)).toEqual(['a.txt', 'a.txt']);
});

test('a reload that changes nothing keeps the figures and clients of the console', async () => {
  await using server = new ReloadableServer(configWith(['code', 'docs']), {});
  await using agent = await server.connect({ token: SECRETS.agent });
  const operator = await signIn(server, 'operator');
  await agent.ok('list_folder', { root: 'code', path: '' });
  await operator.until('figures', (body) => body.some((second: { calls: number }) => second.calls > 0));
  await server.reload(configWith(['code', 'docs']));
  const figures = (await operator.get('figures')).body as { calls: number }[];
  expect(figures.some(({ calls }) => calls > 0)).toBe(true);
  expect((await operator.get('state')).body.clients).toMatchObject([{ token: 'agent', calls: 1 }]);
});

test('a request that was begun before its token was removed changes nothing', async () => {
  await using server = new ReloadableServer(configWith(['code', 'docs']), {});
  await using agent = await server.connect({ token: SECRETS.agent });
  const writer = await signIn(server, 'writer');
  await agent.ok('write_file', { root: 'docs', path: 'a.txt', content: 'x' });
  const { changes } = (await writer.get('history/docs')).body;
  const body = JSON.stringify({ change: changes[0].id });
  const request = http.request(new URL('/console/api/history/docs/undo', await server.url()), {
    method: 'POST',
    headers: { cookie: writer.cookie, 'x-ringfence-console': writer.key, 'content-length': body.length },
  });
  request.write(body.slice(0, 1));
  await writer.get('state');
  await server.reload(configWith(['code', 'docs'], ['agent', 'operator']));
  request.end(body.slice(1));
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  expect(response.resume().statusCode).toBe(401);
  expect(fs.existsSync(path.join(place, 'docs', 'a.txt'))).toBe(true);
});
