import { type ChildProcess, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { describe, expect, test } from 'vitest';
import { startChild } from '../../tests/support/child.ts';
import { BACKEND_NAMES, temporaryName } from '../fence/index.ts';
import { pastSteps } from '../history/index.ts';
import { PastBox } from './past-box.fixture.ts';
import { pastChanges } from './past-change.ts';
import { settle } from './settle.ts';

const GONE = temporaryName().replace(`-${process.pid}-`, `-${spawnSync(process.execPath, ['-e', '']).pid}-`);

/** Makes the log look as if the process had been killed after its last step, with or without having done it. */
function forgetMarks({ box, history }: PastBox): void {
  history.log.writeMarks();
  for (const name of fs.readdirSync(box.host('.ringfence/log'))) {
    const host = box.host('.ringfence/log', name);
    const lines = fs.readFileSync(host, 'utf8').split('\n');
    const kept = lines.filter((line) => !/^\w+ \{"(done|cancelled)"/.test(line));
    fs.writeFileSync(host, kept.join('\n'));
  }
}

describe.each(BACKEND_NAMES)('%s', (backend) => {
  const cases: [what: string, act: (past: PastBox) => Promise<unknown>][] = [
    ['a new file in new folders', (past) => past.write('new/folder/file', 'content')],
    ['a file that was replaced', (past) => past.write('f', 'two')],
    ['an append', (past) => past.append('f', 'two\n')],
    ['a removed file', (past) => past.remove('f')],
    ['a removed folder', (past) => past.remove('d')],
    ['a moved file', (past) => past.move('f', 'moved')],
    ['a file that was moved over another', (past) => past.move('d/x', 'f')],
    ['a moved folder', (past) => past.move('d', 'e')],
    ['a copied folder', (past) => past.copy('d', 'e')],
    ['a merged folder', (past) => past.copy('d', 'm', { intoFolders: false })],
  ];

  test.each(cases)('%s is known to have happened without its mark, also after later work', async (_, act) => {
    using past = new PastBox(backend);
    past.box.file('f', 'one');
    past.box.file('d/x', 'x');
    past.box.file('m/x', 'old');
    const before = past.look();
    await act(past);
    for (const name of ['f', 'e/x', 'd/x', 'm/x']) if (past.box.exists(name)) await past.write(name, `later ${name}`);
    if (past.box.exists('d')) await past.move('d', 'later');
    const marked = [...pastChanges(past.history)].map(({ steps }) => steps.length);
    const after = past.look();
    forgetMarks(past);
    expect([...pastChanges(past.history)].map(({ steps }) => steps.length)).toEqual(marked);
    await past.undo();
    past.expectSame(before);
    // The undo itself was killed before its marks were written.
    forgetMarks(past);
    await past.undo({ limit: 1 });
    past.expectSame(after);
  });

  test.each(cases)('%s is known not to have happened', async (_, act) => {
    using past = new PastBox(backend);
    past.box.file('f', 'one');
    past.box.file('d/x', 'x');
    past.box.file('m/x', 'old');
    const before = past.look();
    await act(past);
    await past.undo();
    const [undo, done] = [...pastChanges(past.history)];
    past.expectSame(before);
    // What is left of a change whose steps did not happen: its records, without marks and without those of the undo.
    past.history.log.writeMarks();
    for (const name of fs.readdirSync(past.box.host('.ringfence/log'))) {
      const host = past.box.host('.ringfence/log', name);
      const lines = fs.readFileSync(host, 'utf8').split('\n');
      const records = lines.filter((line) => line.includes(`"change":"${done?.id}"`));
      fs.writeFileSync(host, `${['', ...records].join('\n')}`);
    }
    expect(undo).toBeDefined();
    expect([...pastChanges(past.history)]).toEqual([]);
    expect(past.plan().actions).toEqual([]);
  });

  test('what killed processes left open is noted in the log, and what was kept for nothing is let go of', async () => {
    using past = new PastBox(backend);
    past.box.file('f', 'one');
    past.box.file('g', 'one');
    await past.write('g', 'two');
    const change = past.history.changeOf(undefined);
    const { dir, name } = past.root.locate(past.at('f').path, { follow: false });
    const other = fs.statSync(past.box.outside);
    const open = await change.put({ dir, name, path: 'f' }, other);
    expect(fs.existsSync(past.box.host('.ringfence/kept', open.kept ?? ''))).toBe(true);
    forgetMarks(past);
    // Their process is still running.
    expect(settle(past.history)).toBe(0);
    for (const segment of fs.readdirSync(past.box.host('.ringfence/log'))) {
      const host = past.box.host('.ringfence/log', segment);
      const owner = open.step.process;
      const { encodeLine } = await import('../history/log/log-line.ts');
      const rewritten = past.history.log
        .read(Number(segment))
        .map((record) => encodeLine(JSON.parse(JSON.stringify(record).replaceAll(owner, GONE))));
      fs.writeFileSync(host, rewritten.join(''));
    }
    expect(settle(past.history)).toBe(2);
    expect(settle(past.history)).toBe(0);
    const states = [...pastSteps(past.history)].map(({ step, done, cancelled }) => [step.path, !!done, cancelled]);
    expect(states).toEqual([
      ['f', false, true],
      ['g', true, false],
    ]);
    expect(fs.existsSync(past.box.host('.ringfence/kept', open.kept ?? ''))).toBe(false);
    await past.undo();
    expect(past.box.text('g')).toBe('one');
  });
});

/** Works without an end, in a scope of its own. */
const WORK = `
const { History } = await from('history/index.js');
const history = History.open(root);
const context = () => ({ ...DEFAULT_CONTEXT, caller: { tool: 'test' } });
for (let round = 0; ; round += 1) {
  const options = { durable: round % 2 === 0 };
  const append = { ...options, mode: 'append' };
  await outcome(writeFile(root, path('a/f' + round % 7), Buffer.from('content ' + round), options, context()));
  await outcome(writeFile(root, path('a/log'), Buffer.from('line ' + round + '\\n'), append, context()));
  await outcome(copy(at('d'), at('copies/' + round % 5), options, context()));
  await outcome(move(at('a/f' + round % 7), at('a/f' + (round + 1) % 7), { ...options, overwrite: true }, context()));
  await outcome(removeFolder(root, path('copies/' + (round + 2) % 5), options, context()));
  await outcome(move(at('a'), at('b'), options, context()));
  await outcome(move(at('b'), at('a'), options, context()));
  if (round === 0) answer('begun');
}
`;

/** Runs work in another process and kills it in its middle. */
async function workUntilKilled(folder: string, backend: string, afterMs: number): Promise<void> {
  const child: ChildProcess = startChild(WORK, { folder, fence: backend });
  await once(child.stdout as NodeJS.ReadableStream, 'data');
  await new Promise((resolve) => setTimeout(resolve, afterMs));
  child.kill('SIGKILL');
  await once(child, 'close');
}

test('work that was killed anywhere is taken back exactly', async () => {
  for (const [at, backend] of (['openat2', 'procfd', 'openat2', 'openat2'] as const).entries()) {
    using past = new PastBox(backend);
    past.box.file('d/x', 'x');
    past.box.file('d/sub/y', 'y');
    past.box.file('a/f1', 'one');
    const before = past.look();
    await workUntilKilled(past.box.inside, backend, at * 37);
    const { sweepLeftovers } = await import('../files/sweep/sweep-leftovers.ts');
    await sweepLeftovers(past.root, new AbortController().signal);
    if (at % 2 === 0) settle(past.history);
    expect(past.conflicts()).toEqual([]);
    await past.undo();
    past.expectSame(before);
  }
}, 60_000);
