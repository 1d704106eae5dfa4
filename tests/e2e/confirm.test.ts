import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { CONNECTIONS, type Connection, ERAS, TWO_CONNECTIONS } from '../support/connections.ts';
import type { DialectName } from '../support/dialect-contracts.ts';
import { Person } from '../support/person.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';
import type { Args } from '../support/tool-client.ts';

/** The folder of a root, and a way to start a server on it whose client is a person. */
class Fixture {
  readonly base = tempDir();
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.reset();
  }

  host(...names: string[]): string {
    return path.join(this.base, ...names);
  }

  /** What is in the root, with the content of files. */
  contents(): string[] {
    const names = fs.readdirSync(this.base, { recursive: true, encoding: 'utf8' }).sort();
    return names.map((name) =>
      fs.statSync(this.host(name)).isFile() ? `${name}: ${fs.readFileSync(this.host(name), 'utf8')}` : name,
    );
  }

  /** Makes the content as it is before each test. */
  reset(): void {
    for (const name of fs.readdirSync(this.base)) fs.rmSync(this.host(name), { recursive: true });
    for (const folder of ['old/deep', 'other']) fs.mkdirSync(this.host(folder), { recursive: true });
    fs.writeFileSync(this.host('old/a.txt'), 'a'.repeat(1000));
    fs.writeFileSync(this.host('old/deep/b.txt'), 'b'.repeat(1048));
    fs.writeFileSync(this.host('f.txt'), 'content\n');
  }

  start<D extends DialectName = 'workspace'>(
    person: Person,
    root: Args,
    config: Args = {},
    dialect = 'workspace' as D,
  ): Promise<TestServer<D>> {
    const roots = [{ name: 'workspace', path: this.base, ...root }];
    const options = { durable_writes: false, log_level: 'trace', ...config };
    return startServer({ ...this.#connection, dialect, roots, client: person.client, config: options });
  }

  remove(): void {
    fs.rmSync(this.base, { recursive: true, force: true });
  }
}

const OLD = { root: 'workspace', path: 'old' };
const QUESTION =
  'Allow remove_folder on "old" (root: workspace)? If so, the folder would be deleted, with 2 files (2.0KB) in it.';

describe.each(CONNECTIONS)('approval by a person, $transport, $era', (connection) => {
  const fixture = new Fixture(connection);
  const person = new Person(connection.era);
  let server: TestServer;
  beforeAll(async () => {
    server = await fixture.start(person, { confirm: ['remove_folder', 'write_file'] }, { request_timeout: 2 });
  });
  beforeEach(() => {
    fixture.reset();
    person.questions();
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    fixture.remove();
  });

  test('a call is made once the person agrees, who is told what would be lost', async () => {
    person.answer('accept');
    await server.ok('remove_folder', OLD);
    expect(person.questions()).toEqual([QUESTION]);
    expect(fixture.contents()).toEqual(['f.txt: content\n', 'other']);
    await server.waitForLog(({ tool, confirmation }) => tool === 'remove_folder' && confirmation === 'agreed');
  });

  test('nothing happens if the person says no, or dismisses the question', async () => {
    const before = fixture.contents();
    person.answer('decline');
    expect(await server.fails('remove_folder', OLD)).toBe(
      'not confirmed: the person who was asked said no; nothing was changed: old (root: workspace)',
    );
    person.answer('cancel');
    expect(await server.fails('remove_folder', OLD)).toContain('dismissed the question, which counts as a no');
    expect(fixture.contents()).toEqual(before);
    expect(person.questions()).toHaveLength(2);
  });

  test('nobody is asked about other tools, a dry run, or a call that cannot be made', async () => {
    await server.ok('remove_file', { root: 'workspace', path: 'f.txt' });
    await server.ok('write_file', { root: 'workspace', path: 'new.txt', content: 'new', dry_run: true });
    expect(await server.fails('remove_folder', { ...OLD, path: 'none' })).toContain('directory not found: none');
    expect(await server.fails('remove_folder', { ...OLD, path: 'old/a.txt' })).toContain('use remove_file instead');
    expect(await server.fails('remove_folder', { ...OLD, path: '' })).toContain('cannot remove root directory');
    expect(await server.fails('write_file', { ...OLD, content: 'x' })).toContain('path is a directory');
    expect(await server.fails('remove_folder', { ...OLD, path: '../x' })).toContain('outside root');
    expect(person.questions()).toEqual([]);
  });

  test('a question names what each kind of change would do', async () => {
    person.answer('accept');
    const write = (path: string, mode: string) =>
      server.ok('write_file', { root: 'workspace', path, content: 'x', mode });
    await write('new/n.txt', 'overwrite');
    await write('f.txt', 'append');
    await write('f.txt', 'overwrite');
    expect(person.questions()).toEqual([
      'Allow write_file on "new/n.txt" (root: workspace)? If so, nothing is there now, so nothing would be lost.',
      'Allow write_file on "f.txt" (root: workspace)? If so, the file (8 bytes) would be added to, and nothing would be lost.',
      'Allow write_file on "f.txt" (root: workspace)? If so, the file (9 bytes) there now would be replaced and lost.',
    ]);
    expect(fixture.contents()).toEqual(expect.arrayContaining(['f.txt: x', 'new/n.txt: x']));
  });

  test('a question shows a path so that it cannot speak for the server', async () => {
    person.answer('decline');
    const odd = 'x" (root: other)? Nothing would be lost.\n\u001b[2J\u202e';
    await server.fails('write_file', { root: 'workspace', path: odd, content: 'x' });
    const [question = ''] = person.questions();
    expect(question).toContain(
      'on "x\\" (root: other)? Nothing would be lost.\\n\\u001b[2J\\u202e" (root: workspace)?',
    );
    expect(question).not.toMatch(/[\u0000-\u001f\u202e]/);
    expect(question).not.toContain(fixture.base);
  });

  test('the person is asked again if the folder is not what the question was about', async () => {
    let asked = 0;
    person.answer(() => {
      asked += 1;
      if (asked === 1) fs.writeFileSync(fixture.host('old/deep/important.txt'), 'i'.repeat(1024));
      return asked === 1 ? 'accept' : 'decline';
    });
    expect(await server.fails('remove_folder', OLD)).toContain('said no');
    expect(person.questions()).toEqual([QUESTION, QUESTION.replace('2 files (2.0KB)', '3 files (3.0KB)')]);
    expect(fixture.contents()).toContain(`old/deep/important.txt: ${'i'.repeat(1024)}`);
  });

  test('a call whose files change under every question fails', async () => {
    person.answer(() => {
      fs.appendFileSync(fixture.host('f.txt'), 'more');
      return 'accept';
    });
    const call = server.call('write_file', { root: 'workspace', path: 'f.txt', content: 'x' });
    if (connection.era === 'legacy') expect((await call).text).toContain('changed by someone else meanwhile');
    // The client of the SDK gives up after ten rounds.
    else await call.catch(() => {});
    expect(person.asked.length).toBeGreaterThan(2);
    expect(fixture.contents()).toContain(`f.txt: content\n${'more'.repeat(person.questions().length)}`);
  });

  test('two calls are asked about at once, and each has its own answer', async () => {
    person.answer(({ message }) => (message.includes('"old"') ? 'accept' : 'decline'));
    const [old, other] = await Promise.all([
      server.call('remove_folder', OLD),
      server.call('remove_folder', { ...OLD, path: 'other' }),
    ]);
    expect([old.isError, other.isError]).toEqual([false, true]);
    expect(person.questions()).toHaveLength(2);
    expect(fixture.contents()).toEqual(['f.txt: content\n', 'other']);
  });

  test('one yes is for one call: two calls that are alike ask twice, and only one is made', async () => {
    person.answer('accept');
    const append = { root: 'workspace', path: 'f.txt', content: 'x', mode: 'append' };
    const results = await Promise.all([server.call('write_file', append), server.call('write_file', append)]);
    const made = results.filter(({ isError }) => !isError).length;
    expect(person.questions().length).toBeGreaterThanOrEqual(2);
    expect(fixture.contents()).toContain(`f.txt: content\n${'x'.repeat(made)}`);
  });

  // In 2026-07-28 no call is running meanwhile.
  test.runIf(connection.era === 'legacy')('the time limit of a call stands still while the person thinks', async () => {
    person.answer(() => sleep(2_500, 'accept' as const));
    await server.ok('remove_folder', OLD);
    expect(fixture.contents()).toEqual(['f.txt: content\n', 'other']);
  });

  test('a call that is cancelled while the person is asked takes its question back', async () => {
    const before = fixture.contents();
    const held = person.hold();
    const controller = new AbortController();
    const call = server.call('remove_folder', OLD, { signal: controller.signal }).catch(() => 'cancelled');
    await held.arrived;
    const [question] = person.asked;
    controller.abort();
    // In 2026-07-28 the call has ended with its question, so that there is nothing to take back.
    if (connection.era === 'legacy') {
      await server.waitForLog(({ tool, code }) => tool === 'remove_folder' && code === 'cancelled');
      await expect.poll(() => question?.signal.aborted).toBe(true);
    }
    held.release('accept');
    expect(await call).toBe('cancelled');
    person.answer('accept');
    // Its answer would have been handled by now.
    await server.ok('write_file', { root: 'workspace', path: 'other/after.txt', content: '' });
    expect(fixture.contents()).toEqual([...before, 'other/after.txt: ']);
  });
});

describe.each(CONNECTIONS)('no approval, $transport, $era', (connection) => {
  const fixture = new Fixture(connection);
  beforeEach(() => fixture.reset());
  afterAll(() => fixture.remove());

  test('a client that does not declare elicitation is refused at once', async () => {
    const person = new Person(connection.era, {});
    await using server = await fixture.start(person, { confirm: ['*'] });
    const before = fixture.contents();
    expect(await server.fails('remove_folder', OLD)).toBe(
      'not confirmed: a person has to agree to this first, and this client cannot ask one: it does not support elicitation; nothing was changed: old (root: workspace)',
    );
    expect(person.asked).toEqual([]);
    expect(fixture.contents()).toEqual(before);
  });

  test('a client that does not answer in time is refused, and a late yes changes nothing', async () => {
    const person = new Person(connection.era);
    await using server = await fixture.start(person, { confirm: ['*'] }, { confirm_timeout: 1 });
    const before = fixture.contents();
    person.answer(() => sleep(1_500, 'accept' as const));
    expect(await server.fails('remove_folder', OLD)).toContain('nobody answered within 1 second; nothing was changed');
    person.answer('accept');
    await server.ok('list_folder', { root: 'workspace', path: '' });
    expect(fixture.contents()).toEqual(before);
  });

  test('nothing happens if the client is gone while the person is asked', async () => {
    const person = new Person(connection.era);
    const server = await fixture.start(person, { confirm: ['*'] }, { confirm_timeout: 1 });
    const before = fixture.contents();
    const held = person.hold();
    const call = server.call('remove_folder', OLD).catch(() => undefined);
    await held.arrived;
    await person.client.close();
    held.release('accept');
    // On stdio, the answers to what was asked before are still sent.
    expect((await call)?.isError ?? true).toBe(true);
    // A session outlives its connection, so its call waits for an answer as long as one may come.
    if (connection.transport === 'http' && connection.era === 'legacy') {
      await server.waitForLog(({ tool, code }) => tool === 'remove_folder' && code === 'not_confirmed');
    }
    await server[Symbol.asyncDispose]();
    expect(fixture.contents()).toEqual(before);
  });
});

// On stdio, these dialects are served without a config.
const OVER_HTTP = CONNECTIONS.filter(({ transport }) => transport === 'http');

describe.each(OVER_HTTP)('approval in the other dialects, $era', (connection) => {
  const fixture = new Fixture(connection);
  beforeEach(() => fixture.reset());
  afterAll(() => fixture.remove());

  test('classic: a deleted folder is a removed folder, and a refusal keeps the contract', async () => {
    const person = new Person(connection.era);
    const dialects = { dialects: { classic: { root: 'workspace' } } };
    await using server = await fixture.start(person, { confirm: ['remove_folder'] }, dialects, 'classic');
    await server.ok('delete', { path: 'f.txt' });
    person.answer('decline');
    expect(await server.fails('delete', { path: 'old', recursive: true })).toEqual({
      code: 'permission_denied',
      message: 'Permission denied to access the specified path',
      details: {
        path: 'old',
        operation: 'delete',
        reason: 'the person who was asked said no; nothing was changed',
      },
    });
    expect(fixture.contents()).toContain('old/deep');
    person.answer('accept');
    await server.ok('delete', { path: 'old', recursive: true });
    expect(fixture.contents()).toEqual(['other']);
    expect(await server.ok('delete', { path: 'old', recursive: true, force: true })).toMatchObject({ type: 'missing' });
    expect(person.questions()).toEqual([
      QUESTION.replace('remove_folder', 'delete'),
      QUESTION.replace('remove_folder', 'delete'),
    ]);
  });

  test('memory: a refusal keeps the contract', async () => {
    const person = new Person(connection.era);
    const dialects = { dialects: { memory: { root: 'workspace' } } };
    await using server = await fixture.start(person, { confirm: ['*'] }, dialects, 'memory');
    const before = fixture.contents();
    person.answer('decline');
    expect(await server.fails('rename', { old_path: 'f.txt', new_path: 'g.txt' })).toEqual({
      code: 'permission_denied',
      message: 'Permission denied: the person who was asked said no; nothing was changed',
      path: 'f.txt',
    });
    expect(fixture.contents()).toEqual(before);
    person.answer('accept');
    await server.ok('rename', { old_path: 'f.txt', new_path: 'g.txt' });
    expect(fixture.contents()).toContain('g.txt: content\n');
    const question =
      'Allow rename on "f.txt" (root: workspace)? If so, the file (8 bytes) would be moved away; at "g.txt" (root: workspace): nothing is there now, so nothing would be lost.';
    expect(person.questions()).toEqual([question, question]);
  });
});

test.each(ERAS)('one yes holds for all rounds of a call that also fetches a file of the client, %s', async (era) => {
  const connection = { transport: 'stdio', era } as const;
  const fixture = new Fixture(connection);
  const person = new Person(era, { elicitation: {}, sampling: {} });
  let fetched = 0;
  person.client.setRequestHandler('sampling/createMessage', async () => {
    fetched += 1;
    const text = JSON.stringify({ content: 'text', mtime: 1 });
    return { model: 'm', role: 'assistant', content: { type: 'text', text } } as never;
  });
  const laptop = { name: 'laptop', agent: { allowed_paths: ['docs/'] }, allowed_tools: ['copy'] };
  const roots = [{ name: 'workspace', path: fixture.base, confirm: ['copy'] }, laptop];
  await using server = await startServer({ ...connection, roots, client: person.client });
  const args = { source_root: 'laptop', source_path: 'docs/a.txt', dest_root: 'workspace', dest_path: 'other' };
  person.answer('accept');
  await server.ok('copy', args);
  expect(person.questions()).toEqual([
    'Allow copy on "other/a.txt" (root: workspace)? If so, a copy of "docs/a.txt" (root: laptop) would be put there; nothing is there now, so nothing would be lost.',
  ]);
  expect(fetched).toBe(1);
  const copied = fixture.contents();
  expect(copied).toContain('other/a.txt: text');
  person.answer('decline');
  expect(await server.fails('copy', args)).toContain('said no');
  expect(fixture.contents()).toEqual(copied);
  fixture.remove();
});

describe.each(TWO_CONNECTIONS)('annotations, $transport, $era', (connection) => {
  const fixture = new Fixture(connection);
  afterAll(() => fixture.remove());
  const destructive = async (annotations: string): Promise<string[]> => {
    await using server = await fixture.start(new Person(connection.era), {}, { annotations });
    const { tools } = await server.client.listTools();
    return tools.filter((tool) => tool.annotations?.destructiveHint).map(({ name }) => name);
  };

  test('say by default what the contract fixes, and the truth if they are to be honest', async () => {
    expect(await destructive('spec')).toEqual([]);
    const honest = ['edit_file', 'patch_file', 'write_file', 'remove_file', 'remove_folder', 'copy', 'move'];
    expect(await destructive('honest')).toEqual(honest);
  });
});
