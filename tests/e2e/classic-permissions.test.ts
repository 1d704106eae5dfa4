import fs from 'node:fs';
import { expect, test } from 'vitest';
import { Sandbox } from '../../src/fence/sandbox.fixture.ts';
import { cannotDropPrivileges, runChild } from '../support/child.ts';

/** Runs calls one after the other and answers each with its result or its error. */
const SCRIPT = `
const { classic } = await from('dialects/classic/index.js');
const { SearchPool } = await from('search/pool/search-pool.js');
const context = {
  ...DEFAULT_CONTEXT, durable: false, limits: { maxFullReadSize: 1e7 },
  search: new SearchPool({ size: 1 }), boundRoot: () => root, require: () => {}, requireWritable: () => {},
};
const answers = [];
for (const [name, given] of JSON.parse(args[0])) {
  const tool = classic.tools.find((one) => one.name === name);
  const call = tool.input.parse(given);
  answers.push(await tool.run(call, context).catch((error) => JSON.parse(classic.formatError(error, { tool, args: call })).error));
}
answer(answers);
process.exit();
`;

const as = cannotDropPrivileges ?? 'as nobody';

async function asNobody(box: Sandbox, calls: [string, object][]) {
  const options = { folder: box.inside, args: [JSON.stringify(calls)], unprivileged: true };
  // biome-ignore lint/suspicious/noExplicitAny: results are looked into by name
  return runChild<any[]>(SCRIPT, options);
}

test.skipIf(cannotDropPrivileges)(
  `filesystem-server/errors: permission_denied, write access checked before anything changes (${as})`,
  async () => {
    using box = new Sandbox('openat2');
    fs.chmodSync(box.inside, 0o777);
    box.file('locked', 'old', 0o600);
    box.file('readable', 'old', 0o644);
    box.file('closed/f', 'old');
    box.folder('closed', 0o755);
    box.folder('secret', 0o700);
    const before = box.tree();
    const calls: [string, object][] = [
      ['read', { path: 'locked' }],
      ['list', { path: 'secret' }],
      ['write', { path: 'readable', content: 'new' }],
      ['write', { path: 'readable', content: 'new', mode: 'append' }],
      ['write', { path: 'closed/new', content: 'new' }],
      ['write', { path: 'closed/a/b', content: 'new', make_dirs: true }],
      ['mkdir', { path: 'closed/d' }],
      ['delete', { path: 'closed/f' }],
      ['delete', { path: 'closed', recursive: true }],
      ['copy', { source: 'readable', destination: 'closed/copy' }],
      ['copy', { source: 'closed/f', destination: 'readable', overwrite: true }],
      ['copy', { source: 'locked', destination: 'copy' }],
      ['move', { source: 'closed/f', destination: 'moved' }],
    ];
    const answers = await asNobody(box, calls);
    for (const [index, [tool, args]] of calls.entries()) {
      expect([tool, args, answers[index]]).toMatchObject([
        tool,
        args,
        {
          code: 'permission_denied',
          message: 'Permission denied to access the specified path',
          details: { operation: tool },
        },
      ]);
    }
    expect(box.tree()).toEqual(before);
    expect([box.text('readable'), box.text('closed/f')]).toEqual(['old', 'old']);
  },
);

test.skipIf(cannotDropPrivileges)(`filesystem-server/info: permissions are those of the server (${as})`, async () => {
  using box = new Sandbox('openat2');
  box.file('locked', '', 0o600);
  box.file('program', '', 0o755);
  const [locked, program] = await asNobody(box, [
    ['info', { path: 'locked' }],
    ['info', { path: 'program' }],
  ]);
  expect(locked.permissions).toEqual({ readable: false, writable: false, executable: false });
  expect(program.permissions).toEqual({ readable: true, writable: false, executable: true });
});

test.skipIf(cannotDropPrivileges)(`filesystem-server/search: what cannot be read is left out (${as})`, async () => {
  using box = new Sandbox('openat2');
  box.file('locked', 'needle', 0o600);
  box.file('open', 'needle');
  box.folder('secret', 0o700);
  const [found, listed] = await asNobody(box, [
    ['search', { root_path: '.', pattern: 'needle' }],
    ['list', { path: '.', recursive: true }],
  ]);
  expect(found).toMatchObject({ total_matches: 1, files_searched: 1, matches: [{ file: 'open' }] });
  expect(listed.entries.map(({ path }: { path: string }) => path)).toEqual(['locked', 'open', 'secret']);
});
