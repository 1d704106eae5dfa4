import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ReplicaOptions, type Replicas, startReplica, startReplicas } from '../support/balanced-replicas.ts';
import { ConsoleUser } from '../support/console-server.ts';
import { noRedis } from '../support/redis.ts';
import type { TestServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';

const TOKENS = {
  agent: 'agent-token-3b1f0c6e9a',
  operator: 'operator-token-90fe21',
  colleague: 'colleague-token-5d22b7',
  writer: 'docs-person-token-41c8',
} as const;
type TokenName = keyof typeof TOKENS;
const ALL = ['workspace', 'docs'];

/** Two roots, an agent, two people who see both and one who sees `docs`, or what `writerRoots` says. */
function options(docs: string, config: Readonly<Record<string, unknown>> = {}, writerRoots = ['docs']): ReplicaOptions {
  const tokens = [
    { name: 'agent', roots: ALL },
    { name: 'operator', roots: ALL, console: true },
    { name: 'colleague', roots: ALL, console: true },
    { name: 'writer', roots: writerRoots, console: true },
  ].map((token) => ({ ...token, token_env: `TOKEN_OF_${token.name}` }));
  return {
    roots: [{ name: 'docs', path: docs, confirm: ['remove_folder'] }],
    confirm: ['remove_folder'],
    config: { console: { enabled: true }, auth: { tokens }, ...config },
    env: Object.fromEntries(Object.entries(TOKENS).map(([name, token]) => [`TOKEN_OF_${name}`, token])),
    token: TOKENS.agent,
  };
}

async function signIn(server: TestServer, name: TokenName): Promise<ConsoleUser> {
  const user = new ConsoleUser(new URL(server.url).origin);
  expect((await user.post('sign-in', { token: TOKENS[name] })).status).toBe(200);
  return user;
}

interface Shown {
  readonly id: string;
  readonly path: string;
  readonly own: boolean;
}

/** Waits until a person is asked about a folder, and returns the question. */
async function askedAbout(user: ConsoleUser, folder: string): Promise<Shown> {
  const isIt = ({ path: asked }: Shown): boolean => asked === folder;
  const { approvals } = await user.until('state', (body) => body.approvals.some(isIt));
  return approvals.find(isIt);
}

const approvalsOf = async (user: ConsoleUser): Promise<Shown[]> => (await user.get('state')).body.approvals;

describe.skipIf(noRedis)(`approvals of replicas${noRedis === undefined ? '' : ` (skipped: ${noRedis})`}`, () => {
  const docs = tempDir('ringfence-docs-');
  let replicas: Replicas;
  let asking: TestServer;
  /** People at the replica where calls wait, and at the other one. */
  let here: ConsoleUser;
  let there: ConsoleUser;

  beforeAll(async () => {
    replicas = await startReplicas(options(docs));
    const [first, second] = replicas.servers as [TestServer, TestServer];
    asking = first;
    here = await signIn(first, 'operator');
    there = await signIn(second, 'operator');
  });
  afterAll(async () => {
    await replicas[Symbol.asyncDispose]();
    fs.rmSync(docs, { recursive: true, force: true });
  });

  const other = (): TestServer => replicas.servers[1] as TestServer;
  const exists = (folder: string): boolean => fs.existsSync(path.join(replicas.folder, folder, 'f.txt'));

  /** Lets the agent remove a folder of `workspace` by a replica. */
  function remove(folder: string, server = asking): ReturnType<TestServer['call']> {
    fs.mkdirSync(path.join(replicas.folder, folder));
    fs.writeFileSync(path.join(replicas.folder, folder, 'f.txt'), 'content');
    return server.call('remove_folder', { root: 'workspace', path: folder });
  }

  test('a call is shown at another replica and goes on when it is allowed there', async () => {
    const call = remove('old');
    const shown = await askedAbout(there, 'old');
    expect(shown).toEqual(await askedAbout(here, 'old'));
    expect(shown).toMatchObject({ tool: 'remove_folder', root: 'workspace', client: 'ringfence-tests', own: false });
    expect(shown).not.toHaveProperty('caller');
    expect((await there.post(`approvals/${shown.id}`, { answer: 'allow' })).status).toBe(204);
    expect((await call).isError).toBe(false);
    expect(exists('old')).toBe(false);
    for (const user of [there, here]) {
      expect(await approvalsOf(user)).toEqual([]);
      expect((await user.post(`approvals/${shown.id}`, { answer: 'allow' })).status).toBe(404);
    }
  });

  test('it fails when it is refused there', async () => {
    const call = remove('kept');
    const { id } = await askedAbout(there, 'kept');
    expect((await there.post(`approvals/${id}`, { answer: 'refuse' })).status).toBe(204);
    expect((await call).text).toContain('the person who was asked said no; nothing was changed');
    expect(exists('kept')).toBe(true);
  });

  test('of answers at all replicas at once, one counts', async () => {
    for (let round = 0; round < 5; round += 1) {
      const call = remove(`raced-${round}`);
      const { id } = await askedAbout(there, `raced-${round}`);
      const choices = ['allow', 'refuse', 'allow', 'refuse', 'refuse', 'allow'];
      const given = choices.map((answer, at) =>
        (at % 2 === round % 2 ? here : there).post(`approvals/${id}`, { answer }),
      );
      const statuses = (await Promise.all(given)).map(({ status }) => status);
      expect(statuses.toSorted()).toEqual([204, 404, 404, 404, 404, 404]);
      expect((await call).isError).toBe(choices[statuses.indexOf(204)] === 'refuse');
    }
  });

  test('only whoever sees the root is asked there', async () => {
    const writer = await signIn(other(), 'writer');
    const call = remove('private');
    const { id } = await askedAbout(there, 'private');
    expect(await approvalsOf(writer)).toEqual([]);
    expect((await writer.post(`approvals/${id}`, { answer: 'allow' })).status).toBe(404);
    expect((await there.post(`approvals/${id}`, { answer: 'refuse' })).status).toBe(204);
    expect((await call).isError).toBe(true);
    fs.mkdirSync(path.join(docs, 'drafts'));
    const his = asking.call('remove_folder', { root: 'docs', path: 'drafts' });
    const drafts = await askedAbout(writer, 'drafts');
    expect((await writer.post(`approvals/${drafts.id}`, { answer: 'allow' })).status).toBe(204);
    expect((await his).isError).toBe(false);
  });

  test('the replica where a call waits decides by its own config who may answer', async () => {
    const { folder, redis } = replicas;
    await using lenient = await startReplica(folder, redis, options(docs, {}, ALL));
    const writer = await signIn(lenient, 'writer');
    const call = remove('strict');
    const { id } = await askedAbout(writer, 'strict');
    expect((await writer.post(`approvals/${id}`, { answer: 'allow' })).status).toBe(404);
    expect((await here.post(`approvals/${id}`, { answer: 'refuse' })).status).toBe(204);
    expect((await call).isError).toBe(true);
    expect(exists('strict')).toBe(true);
  });

  test('nobody agrees to a call of their own token there', async () => {
    await using own = await asking.connect({ token: TOKENS.operator });
    fs.mkdirSync(path.join(replicas.folder, 'own'));
    const call = own.call('remove_folder', { root: 'workspace', path: 'own' });
    const { id, own: isOwn } = await askedAbout(there, 'own');
    expect(isOwn).toBe(true);
    for (const answer of ['allow', 'refuse']) {
      const { status, body } = await there.post(`approvals/${id}`, { answer });
      expect([status, body.error]).toEqual([403, expect.stringContaining('made with your own token')]);
    }
    const colleague = await signIn(other(), 'colleague');
    expect((await colleague.post(`approvals/${id}`, { answer: 'allow' })).status).toBe(204);
    expect((await call).isError).toBe(false);
  });

  test('it arrives in the stream of events there, and leaves it with the answer', async () => {
    using events = await there.events();
    // Nothing else happens there, so these are the only lists.
    const next = async (): Promise<Shown[]> => {
      for (let event = await events.next(); event !== undefined; event = await events.next())
        if (event.data.startsWith('[')) return JSON.parse(event.data);
      throw new Error('the stream ended');
    };
    const call = remove('streamed');
    const [shown] = await next();
    expect(shown).toMatchObject({ path: 'streamed' });
    await here.post(`approvals/${shown?.id}`, { answer: 'allow' });
    expect(await next()).toEqual([]);
    expect((await call).isError).toBe(false);
  });

  test('no answer within confirm_timeout is a no there, too', async () => {
    const { folder, redis } = replicas;
    await using hasty = await startReplica(folder, redis, options(docs, { confirm_timeout: 2 }));
    const call = remove('expired', hasty);
    const { id } = await askedAbout(there, 'expired');
    expect((await call).text).toContain('nobody answered within 2 seconds; nothing was changed');
    expect((await there.post(`approvals/${id}`, { answer: 'allow' })).status).toBe(404);
    await there.until('state', ({ approvals }) => approvals.length === 0);
    expect(exists('expired')).toBe(true);
  });

  test('a call of a replica that died is not shown for long, and an answer to it is not taken', async () => {
    const { folder, redis } = replicas;
    await using doomed = await startReplica(folder, redis, options(docs));
    // Its client waits for somebody to go on with it.
    remove('orphaned', doomed).catch(() => {});
    const { id } = await askedAbout(there, 'orphaned');
    process.kill(doomed.pid, 'SIGKILL');
    const { status, body } = await there.post(`approvals/${id}`, { answer: 'allow' });
    expect([status, body.error]).toEqual([503, expect.stringContaining('has not confirmed the answer')]);
    await there.until('state', ({ approvals }) => approvals.length === 0);
    expect(exists('orphaned')).toBe(true);
  });

  test('messages that no replica sends change nothing', async () => {
    const { Valkey } = await import('iovalkey');
    const stranger = new Valkey(replicas.redis.url);
    const call = remove('forged');
    const { id } = await askedAbout(there, 'forged');
    const channels = (await stranger.pubsub('CHANNELS', 'ringfence:0:channel:*')) as string[];
    expect(channels).toContain('ringfence:0:channel:approvals');
    const forged = { kind: 'answer', from: 'x', request: 'x', id, agrees: true };
    const viewer = { name: 'operator', sha256: 'f'.repeat(64) };
    for (const channel of channels.filter((name) => name.endsWith('approvals') || /[\da-f-]{36}$/.test(name)))
      for (const text of [
        '',
        '{',
        'null',
        '{"kind":"waiting"}',
        JSON.stringify(forged),
        JSON.stringify({ ...forged, viewer }),
      ])
        await stranger.publish(channel, text);
    stranger.disconnect();
    expect((await there.post(`approvals/${id}`, { answer: 'refuse' })).status).toBe(204);
    expect((await call).isError).toBe(true);
    expect(exists('forged')).toBe(true);
  });

  test('without Redis a call is answered where it waits, and an answer elsewhere says that it may not count', async () => {
    const call = remove('cut-off');
    const { id } = await askedAbout(there, 'cut-off');
    await replicas.redis.kill();
    const { status, body } = await there.post(`approvals/${id}`, { answer: 'allow' });
    expect([status, body.error]).toEqual([503, expect.stringContaining('so it may not count')]);
    await there.until('state', ({ approvals }) => approvals.length === 0);
    expect(exists('cut-off')).toBe(true);
    expect(await approvalsOf(here)).toMatchObject([{ id }]);
    expect((await here.post(`approvals/${id}`, { answer: 'allow' })).status).toBe(204);
    expect((await call).isError).toBe(false);
    const waiting = remove('back');
    await askedAbout(here, 'back');
    await replicas.redis.start();
    const back = await askedAbout(there, 'back');
    expect((await there.post(`approvals/${back.id}`, { answer: 'allow' })).status).toBe(204);
    expect((await waiting).isError).toBe(false);
  });
});
