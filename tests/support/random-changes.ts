import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { TestServer } from './start-server.ts';
import type { Args, ToolClient } from './tool-client.ts';

/** A generator of numbers below a bound that depend on the seed alone (mulberry32). */
export function seeded(seed: number): (bound: number) => number {
  let state = seed >>> 0;
  return (bound) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
}

const NAMES = ['a', 'b c', 'ü', '-rf', 'ẞ☃', 'line\nbreak', '.hidden', 'CAPS', 'x'.repeat(60), '🙂', 'tab\t', "'q'"];

/** Fills a folder with files of all kinds: odd names, also such that are not UTF-8, links, modes, binary content. */
export function makeOddTree(top: string): void {
  const random = seeded(1);
  const long = new Date('2001-02-03T04:05:06.789Z');
  const folders = ['', 'd', 'd/b c', 'd/ü', 'e', 'e/-rf', 'empty', 'e/deep/er/still'];
  for (const folder of folders) fs.mkdirSync(path.join(top, folder), { recursive: true });
  for (const folder of folders.filter((name) => name !== 'empty')) {
    for (const name of NAMES.filter(() => random(3) > 0)) {
      const file = path.join(top, folder, `${name}.txt`);
      fs.writeFileSync(
        file,
        random(4) === 0 ? Buffer.from([0, 255, 254, random(256)]) : `${name}\nline two\nline three\n`,
      );
      fs.chmodSync(file, [0o644, 0o600, 0o755, 0o444, 0o640][random(5)] as number);
      fs.utimesSync(file, long, new Date(long.getTime() + random(1e9)));
    }
  }
  fs.symlinkSync('d/a.txt', path.join(top, 'link'));
  fs.symlinkSync('nowhere', path.join(top, 'd', 'dangling'));
  fs.symlinkSync('../d', path.join(top, 'e', 'up'));
  fs.writeFileSync(path.join(top, 'first-name'), 'one file, two names\nline two\nline three\n');
  fs.linkSync(path.join(top, 'first-name'), path.join(top, 'd', 'second-name'));
  fs.writeFileSync(Buffer.concat([Buffer.from(path.join(top, 'd', 'not-utf8-')), Buffer.from([0xff, 0xfe])]), 'bytes');
}

/** What an entry is like: all that has to come back. */
export function snapshot(top: string): Record<string, string> {
  const found: Record<string, string> = {};
  const walk = (folder: Buffer, prefix: string): void => {
    for (const raw of fs.readdirSync(folder, { encoding: 'buffer' })) {
      const name = prefix + raw.toString('latin1');
      if (name === '.ringfence') continue;
      const host = Buffer.concat([folder, Buffer.from('/'), raw]);
      const { mode, mtimeNs, nlink } = fs.lstatSync(host, { bigint: true });
      const kind = Number(mode) & 0o170000;
      const bits = (Number(mode) & 0o7777).toString(8);
      if (kind === 0o040000) {
        found[`${name}/`] = bits;
        walk(host, `${name}/`);
      } else if (kind === 0o120000) found[name] = `-> ${fs.readlinkSync(host, 'latin1')} ${mtimeNs}`;
      else {
        const hash = createHash('sha256').update(fs.readFileSync(host)).digest('hex').slice(0, 16);
        found[name] = `${hash} ${bits} ${mtimeNs} ${nlink}`;
      }
    }
  };
  walk(Buffer.from(top), '');
  return found;
}

/** The dialects that change files, connected to one server. */
export interface Agents {
  readonly workspace: ToolClient<'workspace'>;
  readonly memory: ToolClient<'memory'>;
  readonly classic: ToolClient<'classic'>;
}

/** Connects a client for each dialect that changes files. */
export async function connectAgents(server: TestServer): Promise<Agents & AsyncDisposable> {
  const [workspace, memory, classic] = await Promise.all([
    server.connect({ dialect: 'workspace' }),
    server.connect({ dialect: 'memory' }),
    server.connect({ dialect: 'classic' }),
  ]);
  const dispose = async (): Promise<void> => {
    for (const agent of [workspace, memory, classic]) await agent[Symbol.asyncDispose]();
  };
  return { workspace, memory, classic, [Symbol.asyncDispose]: dispose };
}

/**
 * Makes one random change by a random tool of a random dialect, on paths that often exist. Most succeed, and none has to.
 * Resolves with what it was.
 */
export async function randomChange(
  agents: Agents,
  top: string,
  root: string,
  random: (bound: number) => number,
): Promise<string> {
  const entries = listed(top);
  const some = (): string => entries[random(entries.length)] ?? 'a.txt';
  const fresh = (): string => {
    const folders = entries.filter((name) => name.endsWith('/'));
    const folder = random(3) === 0 ? 'new/' : (folders[random(folders.length)] ?? '');
    return `${folder}${NAMES[random(NAMES.length)]}${random(50)}`;
  };
  const either = (): string => (random(2) === 0 ? some() : fresh());
  const text = `${random(1000)}\nline ${random(9)}\n`.repeat(1 + random(random(10) === 0 ? 3000 : 20));
  const calls: readonly (() => readonly [keyof Agents, string, Args])[] = [
    () => ['workspace', 'write_file', { root, path: either(), content: text }],
    () => ['workspace', 'write_file', { root, path: either(), content: text, mode: 'append' }],
    () => ['workspace', 'edit_file', { root, path: some(), old_text: 'line two', new_text: `line ${random(100)}` }],
    () => ['workspace', 'remove_file', { root, path: some() }],
    () => ['workspace', 'remove_folder', { root, path: some() }],
    () => ['workspace', 'create_folder', { root, path: fresh() }],
    () => ['workspace', 'copy', { source_root: root, source_path: some(), dest_root: root, dest_path: either() }],
    () => ['workspace', 'move', { source_root: root, source_path: some(), dest_root: root, dest_path: either() }],
    () => ['memory', 'create', { path: fresh(), content: text }],
    () => ['memory', 'str_replace', { path: some(), old_str: 'line three', new_str: text }],
    () => ['memory', 'insert', { path: some(), insert_line: 1, new_str: `${text}\n` }],
    () => ['memory', 'delete', { path: some() }],
    () => ['memory', 'rename', { old_path: some(), new_path: fresh() }],
    () => ['classic', 'write', { path: either(), content: text, make_dirs: true }],
    () => ['classic', 'write', { path: either(), content: text, mode: 'append' }],
    () => ['classic', 'copy', { source: some(), destination: either(), overwrite: true }],
    () => ['classic', 'move', { source: some(), destination: either(), overwrite: true }],
    () => ['classic', 'delete', { path: some(), recursive: random(2) === 0 }],
    () => ['classic', 'mkdir', { path: fresh() }],
  ];
  const [dialect, tool, args] = (calls[random(calls.length)] as (typeof calls)[number])();
  const { isError } = await agents[dialect].call(tool, args);
  return `${dialect}.${tool} ${JSON.stringify(args).slice(0, 120)} ${isError ? 'failed' : 'done'}`;
}

function listed(top: string): string[] {
  const found: string[] = [];
  const walk = (folder: string, prefix: string): void => {
    for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
      if (entry.name === '.ringfence') continue;
      const name = prefix + entry.name;
      found.push(entry.isDirectory() ? `${name}/` : name);
      if (entry.isDirectory()) walk(path.join(folder, entry.name), `${name}/`);
    }
  };
  walk(top, '');
  return found;
}
