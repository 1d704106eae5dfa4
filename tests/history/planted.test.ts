import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { outcome, Sandbox } from '../../src/fence/sandbox.fixture.ts';
import { removeFile } from '../../src/files/remove/remove-entry.ts';
import { writeFile } from '../../src/files/write/write-file.ts';
import { History, pastSteps } from '../../src/history/index.ts';
import { enforceLimits } from '../../src/history/limits/enforce-limits.ts';
import { historyStatistics } from '../../src/history/limits/statistics.ts';
import { encodeLine } from '../../src/history/log/log-line.ts';
import { cannotDropPrivileges, runChild } from '../support/child.ts';

const notRoot = process.geteuid?.() === 0 ? undefined : 'needs root';

const open = (box: Sandbox) => outcome(() => History.open(box.root)[Symbol.dispose]());
const write = ({ root }: Sandbox, name: string) =>
  outcome(writeFile(root, root.parse(name), Buffer.from('new'), { durable: false }));

/** Fails if anything outside the root was changed, read into it, or made. */
function expectUntouched(box: Sandbox): void {
  expect(fs.readdirSync(box.outside).sort()).toEqual(['folder', 'secret']);
  expect(fs.readdirSync(path.join(box.outside, 'folder'))).toEqual([]);
  expect(fs.readFileSync(path.join(box.outside, 'secret'), 'utf8')).toBe('secret');
}

function sandbox(): Sandbox {
  const box = new Sandbox('openat2');
  fs.mkdirSync(path.join(box.outside, 'folder'));
  return box;
}

describe('a history that somebody else has put into the root', () => {
  test.each([
    ['a link to a folder outside', (box: Sandbox) => box.link('../outside/folder', '.ringfence'), 'not_directory'],
    ['an absolute link', (box: Sandbox) => box.link(path.join(box.outside, 'folder'), '.ringfence'), 'not_directory'],
    ['a file', (box: Sandbox) => box.file('.ringfence'), 'not_directory'],
    ['a folder that others may enter', (box: Sandbox) => box.folder('.ringfence', 0o755), 'permission_denied'],
    ['a folder that a group may enter', (box: Sandbox) => box.folder('.ringfence', 0o710), 'permission_denied'],
  ])('%s is refused', async (_what, plant, code) => {
    using box = sandbox();
    plant(box);
    const before = box.tree();
    expect(await open(box)).toBe(code);
    expect(box.tree()).toEqual(before);
    expectUntouched(box);
  });

  test.skipIf(notRoot)(`a folder of another user is refused${notRoot ? ` (${notRoot})` : ''}`, async () => {
    using box = sandbox();
    fs.chownSync(box.folder('.ringfence', 0o700), 65534, 65534);
    expect(await open(box)).toBe('permission_denied');
    expect(box.tree()).toEqual(['.ringfence/']);
  });

  test.each(['log', 'kept'])('a link in place of %s is refused', async (name) => {
    using box = sandbox();
    box.folder('.ringfence', 0o700);
    box.link('../../outside/folder', `.ringfence/${name}`);
    expect(await open(box)).toBe('not_directory');
    expectUntouched(box);
  });

  test('links in place of segments, indexes and kept folders lead nowhere', async () => {
    using box = sandbox();
    box.file('f', 'old');
    box.folder('.ringfence', 0o700);
    box.link('../../../outside/secret', '.ringfence/log/00000001');
    box.link('../../../outside/folder', '.ringfence/kept/00000001');
    box.link('../../outside/secret', '.ringfence/.gitignore');
    using history = History.open(box.root);
    expect(await write(box, 'f')).toBe('link_loop');
    expect([...pastSteps(history)]).toEqual([]);
    fs.rmSync(box.host('.ringfence/log/00000001'));
    expect(await write(box, 'f')).toBe('not_directory');
    expect(await outcome(removeFile(box.root, box.root.parse('f'), { durable: false }))).toBe('not_directory');
    expect([...pastSteps(history)].map(({ cancelled }) => cancelled)).toEqual([true, true]);
    expect(box.text('f')).toBe('old');
    await historyStatistics(history).catch(() => {});
    expectUntouched(box);
  });

  test('a pipe in place of a segment blocks nobody', async () => {
    using box = sandbox();
    box.folder('.ringfence/log');
    fs.chmodSync(box.host('.ringfence'), 0o700);
    spawnSync('mkfifo', [box.host('.ringfence/log/00000001'), box.host('.ringfence/log/00000001.paths')]);
    using history = History.open(box.root);
    expect(await write(box, 'f')).not.toBe('ok');
    expect([...pastSteps(history, { path: 'f' })]).toEqual([]);
  });
});

const STATE = { type: 'file', ino: 1, mode: 0o644, size: 3, mtimeMs: 1, ctimeMs: 1 };
const STEP = {
  change: 'abc',
  number: 0,
  time: 1,
  caller: { tool: 'write_file' },
  process: 'x',
  kind: 'put',
  path: 'f',
  before: STATE,
  kept: '00000001/abc-0',
};

/** Records with the right checksum that this program never writes. */
const FORGED: readonly unknown[] = [
  ...[
    '..',
    '../outside/secret',
    'a/../../x',
    '/etc/passwd',
    '',
    '.',
    'a//b',
    './a',
    'a\0b',
    '.ringfence/log',
    'a/.ringfence/x',
  ].flatMap((bad) => [
    { ...STEP, path: bad },
    { ...STEP, kind: 'move', to: bad },
  ]),
  ...['../../outside/secret', '/etc/passwd', '00000001/../../x', '00000001', '1/a-0', '00000001/a-0/b', 7].flatMap(
    (bad) => [
      { ...STEP, kept: bad },
      { ...STEP, from: bad },
    ],
  ),
  { ...STEP, kind: 'move' },
  { ...STEP, kind: 'constructor' },
  { ...STEP, kind: ['put'] },
  { ...STEP, change: '../x' },
  { ...STEP, change: { toString: 1 } },
  { ...STEP, number: '0' },
  { ...STEP, number: 1.5 },
  { ...STEP, time: null },
  { ...STEP, caller: null },
  { ...STEP, caller: { tool: 1 } },
  { ...STEP, caller: { tool: 'x', owner: {} } },
  { ...STEP, process: 1 },
  { ...STEP, before: 'x' },
  { ...STEP, before: { ...STATE, size: '3' } },
  { ...STEP, before: { ...STATE, type: 'door' } },
  { ...STEP, undoes: 'x' },
  { ...STEP, mtimeNs: '1; x' },
  { done: 1 },
  { done: '../x.0' },
  { done: 'abc.0', after: [] },
  { cancelled: {} },
  { counted: 'abc.0', bytes: 'many', files: 1 },
  [],
  null,
  1,
  'text',
  {},
];

const forge = (value: unknown): string => encodeLine(value as object);

test('forged records are nothing, whoever reads them', async () => {
  using box = sandbox();
  using history = History.open(box.root);
  const good = forge({ ...STEP, change: 'good' });
  const noise = [`\n${'x'.repeat(3_000_000)}`, '\n{', '\n\n', good.replace('good', 'evil'), `${good.slice(0, 9)} {]`];
  fs.writeFileSync(box.host('.ringfence/log/00000001'), [...noise, ...FORGED.map(forge), good].join(''));
  const keys = (at?: string) => [...pastSteps(history, { path: at })].map(({ key }) => key);
  expect(keys()).toEqual(['good.0']);
  for (const at of ['f', '..', '', '/', '.ringfence', 'a/..'])
    expect(keys(at).every((key) => key === 'good.0')).toBe(true);
  history.log.rotate();
  expect(keys('f')).toEqual(['good.0']);
  expect(await historyStatistics(history)).toMatchObject({ steps: 1 });
  expect(await write(box, 'f')).toBe('ok');
  const removeTree = async () => {};
  expect(await enforceLimits(history, { pause: () => undefined, removeTree, quietMs: 0 })).toHaveLength(1);
  expectUntouched(box);
});

test('every single forged record is nothing', () => {
  using box = sandbox();
  using history = History.open(box.root);
  for (const forged of FORGED) {
    fs.writeFileSync(box.host('.ringfence/log/00000001'), forge(forged));
    expect([forged, [...pastSteps(history)].length]).toEqual([forged, 0]);
  }
});

test('a segment of any size is read in part only, and the last number is not the end', async () => {
  using box = sandbox();
  box.folder('.ringfence/log');
  fs.chmodSync(box.host('.ringfence'), 0o700);
  box.file('.ringfence/log/99999999', `${forge({ ...STEP, change: 'early' })}\n`);
  fs.truncateSync(box.host('.ringfence/log/99999999'), 2 ** 40);
  using history = History.open(box.root);
  expect(await write(box, 'f')).toBe('ok');
  expect(await write(box, 'f')).toBe('ok');
  const steps = [...pastSteps(history, { path: 'f' })].map(({ step }) => step);
  expect(steps).toHaveLength(3);
  expect(steps[0]?.kept).toMatch(/^100000000\//);
});

const skipped = cannotDropPrivileges === undefined ? '' : ` (skipped: ${cannotDropPrivileges})`;
test.skipIf(cannotDropPrivileges !== undefined)(`nobody else can read what is kept${skipped}`, async () => {
  using box = sandbox();
  using history = History.open(box.root);
  fs.chmodSync(box.inside, 0o777);
  box.file('f', 'old', 0o666);
  expect(await write(box, 'f')).toBe('ok');
  const [past] = pastSteps(history);
  const places = ['.', 'log', 'log/00000001', 'kept', 'kept/00000001', `kept/${past?.step.kept}`, '.gitignore'];
  const script = `
    const fs = await import('node:fs');
    const attempt = (work) => { try { work(); return 'ok'; } catch (error) { return error.code; } };
    answer(args.flatMap((place) => [
      attempt(() => fs.readdirSync(folder + '/.ringfence/' + place)),
      attempt(() => fs.readFileSync(folder + '/.ringfence/' + place)),
      attempt(() => fs.writeFileSync(folder + '/.ringfence/' + place + '/x', 'x')),
      attempt(() => fs.appendFileSync(folder + '/.ringfence/' + place, 'x')),
    ]));`;
  const options = { folder: box.inside, args: places, unprivileged: true };
  expect(new Set(await runChild<string[]>(script, options))).toEqual(new Set(['EACCES']));
  expect(fs.readFileSync(box.host(`.ringfence/kept/${past?.step.kept}`), 'utf8')).toBe('old');
});
