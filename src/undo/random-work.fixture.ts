import fs from 'node:fs';
import { outcome } from '../fence/sandbox.fixture.ts';
import type { PastBox } from './past-box.fixture.ts';

/** Returns numbers from 0 on that are less than `below`, the same ones for the same seed (mulberry32). */
export function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const NAMES = ['a', 'b', 'c d', '-rf', 'line\nbreak', '🙂', 'é', "it's", '.hidden', 'x.txt'];

/** Makes a tree with odd names, links, modes and binary files. */
export function furnishOddly({ box, backend }: PastBox): void {
  for (const folder of ['', 'a/', 'a/c d/', '🙂/', '-rf/line\nbreak/']) {
    for (const [at, name] of ['f1', 'f 2', 'line\nbreak.txt', '-f', 'é', '🙂.bin'].entries()) {
      box.file(folder + name, Buffer.from(`${folder}${name}\n${'\0\xff'.repeat(at * 100)}`, 'latin1'));
    }
    box.link('f1', `${folder}to f1`);
    box.link('../../nowhere', `${folder}dangling`);
    fs.linkSync(box.host(folder, 'f1'), box.host(folder, 'hard'));
    box.folder(`${folder}empty`, 0o700);
    fs.chmodSync(box.host(folder, 'f 2'), 0o444);
    fs.chmodSync(box.host(folder, 'é'), 0o000);
    fs.chmodSync(box.host(folder, '-f'), 0o2755);
    // Node's own calls for folders on the portable backend cannot enter these.
    fs.writeFileSync(Buffer.concat([Buffer.from(box.host(folder, 'x')), Buffer.from([0xff, 0xfe])]), 'not UTF-8');
    if (backend !== 'portable') {
      const odd = Buffer.concat([Buffer.from(box.host(folder, 'empty/')), Buffer.from([0xe9])]);
      fs.mkdirSync(odd);
      fs.writeFileSync(Buffer.concat([odd, Buffer.from('/inside')]), 'in a folder that is not UTF-8');
    }
  }
  fs.linkSync(box.host('a/f 2'), box.host('🙂/other name of a\u2215f 2'));
  const stamp = (folder: string) => {
    for (const entry of fs.readdirSync(folder, { withFileTypes: true, encoding: 'buffer' })) {
      const at = Buffer.concat([Buffer.from(`${folder}/`), entry.name]);
      if (entry.isDirectory() && !at.toString().includes('\ufffd')) stamp(at.toString());
      fs.lutimesSync(at, 1e9, 1.6e9 + at.length / 1024);
    }
  };
  for (const name of ['a', '🙂', '-rf']) stamp(box.host(name));
}

/** Makes random changes, and returns how many succeeded. */
export async function workRandomly(past: PastBox, random: (below: number) => number, count: number): Promise<number> {
  let succeeded = 0;
  for (let left = count; left > 0; left -= 1) {
    if ((await outcome(changeRandomly(past, random))) === 'ok') succeeded += 1;
  }
  return succeeded;
}

function changeRandomly(past: PastBox, random: (below: number) => number): Promise<void> {
  const { files, folders } = scan(past);
  const pick = <T>(from: readonly T[]): T => from[random(from.length)] as T;
  const fresh = () => `${pick(folders)}${pick(NAMES)}`;
  const any = () =>
    random(3) === 0 ? fresh() : pick([...files, ...folders.slice(1).map((name) => name.slice(0, -1))]);
  const file = () => (files.length === 0 || random(4) === 0 ? fresh() : pick(files));
  const bytes = () => Buffer.from(`${random(1e9)}\n`.repeat(1 + random(200)));
  switch (random(10)) {
    case 0:
    case 1:
      return past.write(file(), bytes());
    case 2:
      return past.append(file(), bytes());
    case 3:
      return past.edit(file(), '\n', `${random(1000)}\n`);
    case 4:
      return past.write(`${fresh()}/new/${pick(NAMES)}`, bytes());
    case 5:
      return random(3) === 0 ? past.remove(any()) : past.remove(file());
    case 6:
      return past.move(any(), any());
    case 7:
      return past.move(file(), file());
    case 8:
      return folders.length > 60 ? past.remove(pick(folders).slice(0, -1)) : past.copy(any(), any());
    default:
      return past.makeFolder(fresh());
  }
}

/** Lists what is there: files and links, and folders with a slash at their end, the root itself as nothing. */
function scan({ box }: PastBox): { files: string[]; folders: string[] } {
  const files: string[] = [];
  const folders = [''];
  for (const folder of folders) {
    for (const entry of fs.readdirSync(box.host(folder), { withFileTypes: true })) {
      if (entry.name.startsWith('.ringfence') || entry.name.includes('\ufffd')) continue;
      if (entry.isDirectory()) folders.push(`${folder}${entry.name}/`);
      else files.push(folder + entry.name);
    }
  }
  return { files, folders };
}
