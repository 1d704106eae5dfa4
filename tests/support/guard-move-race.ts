import { once } from 'node:events';
import readline from 'node:readline';
import { Sandbox } from '../../src/fence/sandbox.fixture.ts';
import { startChild } from './child.ts';

const OPEN = `
const fs = await import('node:fs');
const { makeFolder } = await from('files/write/make-folder.js');
const rules = { deny: [], protect: ['**/.git/config', '**/.git/hooks', '**/.git/sub/link'] };
const guarded = Root.open('w', folder, chooseBackend(process.env.RINGFENCE_FENCE), rules);
const inGuarded = (raw) => ({ root: guarded, path: path(raw) });
const fast = { durable: false };
let ended = false;
process.stdin.on('end', () => { ended = true; }).resume();
`;

/** Puts into the folder, again and again, what is protected where the other process moves it. */
const FILL = `${OPEN}
answer('ready');
const steps = [
  () => writeFile(guarded, path('plain/config'), Buffer.from('theirs'), fast),
  () => makeFolder(guarded, path('plain/hooks')),
  () => writeFile(guarded, path('plain/hooks/pre-commit'), Buffer.from('theirs'), fast),
  () => copy(inGuarded('link'), inGuarded('plain/sub/link'), fast),
];
for (let i = 0; !ended; i += 1) {
  await outcome(steps[i % steps.length]());
  // Not always there first.
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 4));
}
answer('done');`;

/** Moves a folder to where that is protected for some seconds, and counts how often it got there, and how often with it. */
const MOVE = `${OPEN}
const host = (name) => folder + '/' + name;
const figures = { moved: 0, refused: 0, broken: 0 };
/** Removes a folder while the other may still be putting something into it. */
const discard = (name) => {
  if (fs.existsSync(host(name))) fs.renameSync(host(name), host('trash'));
  for (;;) try { return fs.rmSync(host('trash'), { recursive: true, force: true }); } catch {}
};
const isBroken = () => ['config', 'hooks', 'sub/link'].some((name) => fs.lstatSync(host('.git/' + name), { throwIfNoEntry: false }));
const until = Date.now() + Number(args[0]) * 1000;
while (Date.now() < until) {
  discard('plain');
  for (let i = 0; i < 5; i += 1) fs.mkdirSync(host('plain/sub/' + i), { recursive: true });
  const got = await outcome(move(inGuarded('plain'), inGuarded('.git'), fast));
  if (got !== 'ok') {
    figures.refused += 1;
    continue;
  }
  figures.moved += 1;
  // Whoever was about to put something into it is done by then.
  await new Promise((resolve) => setTimeout(resolve, 2));
  if (isBroken()) figures.broken += 1;
  discard('.git');
}
answer(figures);
process.exit(0);`;

/** What a race has shown. */
export interface MoveRaceFigures {
  /** How often the folder was moved, and how often that was refused. */
  readonly moved: number;
  readonly refused: number;
  /** How often it was moved with something in it that is protected there. */
  readonly broken: number;
}

/** Races two processes on one root: one moves a folder to where rules hold, the other puts into it what they protect. */
export async function raceMove(fences: readonly [string, string], seconds: number): Promise<MoveRaceFigures> {
  using box = new Sandbox('openat2');
  box.link('nowhere', 'link');
  const filler = startChild(FILL, { folder: box.inside, fence: fences[1] });
  const filled = once(filler, 'close');
  try {
    await once(filler.stdout as NodeJS.ReadableStream, 'data');
    const mover = startChild(MOVE, { folder: box.inside, fence: fences[0], args: [String(seconds)] });
    const output = readline.createInterface({ input: mover.stdout as NodeJS.ReadableStream });
    const [line] = await Promise.race([once(output, 'line'), once(output, 'close')]);
    return JSON.parse(line ?? 'null');
  } finally {
    filler.stdin?.end();
    await filled;
  }
}
