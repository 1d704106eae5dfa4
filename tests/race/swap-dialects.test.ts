import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { configFromDirs } from '../../src/config/folders/config-from-dirs.ts';
import { SECRET } from '../../src/fence/escape-layouts.fixture.ts';
import type { BackendName } from '../../src/fence/index.ts';
import { DIALECTS, InProcessServer } from '../support/in-process-server.ts';
import { OUTSIDE_NAME, swapLayout } from '../support/swap-layout.ts';
import { startSwapper } from '../support/swapper.ts';

// That the attack works on a server without a fence is shown by the control in swap.test.ts.

/** A round for each dialect; more of them where a busy machine leaves time for too few attacks. */
const SECONDS = 1;
const MAX_ROUNDS = 12;

/** Calls a tool and returns the text of its answer, error or not. */
type Call = (tool: string, args: Readonly<Record<string, unknown>>) => Promise<string>;
type Attack = (call: Call, turn: number) => Promise<unknown>;

const victim = (turn: number) => `dir/victim-${turn % 4}`;

/** Each on paths that cross the folder being swapped. What they bring inside is read back, so that it is seen. */
const MEMORY: Readonly<Record<string, Attack>> = {
  view: (call) => call('view', { path: 'dir/nested.txt' }),
  'view what is only outside': (call) => call('view', { path: `dir/${OUTSIDE_NAME}` }),
  'view the folder': (call) => call('view', { path: 'dir' }),
  'view through its other name': (call) => call('view', { path: 'evil/nested.txt' }),
  create: (call, turn) => call('create', { path: `dir/new-${turn}/a`, content: 'ours', encoding: 'utf-8' }),
  'create, to stay in the way': (call, turn) =>
    call('create', { path: victim(turn), content: 'ours', encoding: 'utf-8' }),
  str_replace: async (call, turn) => {
    await call('str_replace', { path: victim(turn), old_str: 'ours', new_str: 'mine' });
    await call('str_replace', { path: victim(turn), old_str: 'mine', new_str: 'ours' });
  },
  'str_replace of what is outside': (call, turn) =>
    call('str_replace', { path: victim(turn), old_str: 'SECRET', new_str: 'gone' }),
  insert: (call, turn) => call('insert', { path: `dir/new-${turn}/a`, insert_line: 1, new_str: 'ours\n' }),
  delete: (call, turn) => call('delete', { path: victim(turn) }),
  'delete an empty folder': (call) => call('delete', { path: 'dir/empty' }),
  rename: (call, turn) => call('rename', { old_path: `dir/new-${turn}`, new_path: `dir/renamed-${turn}` }),
  'rename to the inside and back': async (call) => {
    await call('rename', { old_path: 'dir/nested.txt', new_path: 'taken.txt' });
    await call('view', { path: 'taken.txt' });
    await call('rename', { old_path: 'taken.txt', new_path: 'dir/nested.txt' });
    await call('delete', { path: 'taken.txt' });
  },
  'keep something to read': (call) => call('create', { path: 'dir/nested.txt', content: 'ours', encoding: 'utf-8' }),
};

const CLASSIC: Readonly<Record<string, Attack>> = {
  read: (call) => call('read', { path: 'dir/nested.txt' }),
  'read what is only outside': (call) => call('read', { path: `dir/${OUTSIDE_NAME}` }),
  write: (call, turn) => call('write', { path: victim(turn), content: 'ours' }),
  'write to the end': (call, turn) => call('write', { path: victim(turn), content: '!', mode: 'append' }),
  'write with parents': (call, turn) =>
    call('write', { path: `dir/deep-${turn}/a/b`, content: 'ours', make_dirs: true }),
  'write what is read': (call) => call('write', { path: 'dir/nested.txt', content: 'ours' }),
  mkdir: (call) => call('mkdir', { path: 'dir/empty' }),
  'copy a file': async (call, turn) => {
    await call('copy', { source: 'dir/nested.txt', destination: 'copied.txt', overwrite: true });
    await call('read', { path: 'copied.txt' });
    await call('copy', { source: 'copied.txt', destination: victim(turn), overwrite: true });
  },
  'copy the folder': async (call) => {
    await call('copy', { source: 'dir', destination: 'copied' });
    await call('search', { root_path: 'copied', pattern: 'secret' });
    await call('list', { path: 'copied', recursive: true, include_hidden: true });
    await call('delete', { path: 'copied', recursive: true });
  },
  move: async (call, turn) => {
    await call('move', { source: 'dir/nested.txt', destination: 'moved.txt', overwrite: true });
    await call('read', { path: 'moved.txt' });
    await call('move', { source: 'moved.txt', destination: victim(turn), overwrite: true });
  },
  delete: (call, turn) => call('delete', { path: victim(turn) }),
  'delete a folder': (call, turn) => call('delete', { path: `dir/deep-${turn}`, recursive: true, force: true }),
  'delete an empty folder': (call) => call('delete', { path: 'dir/empty', recursive: true }),
  list: (call) => call('list', { path: 'dir', recursive: true }),
  'list from above': (call) => call('list', { path: '.', recursive: true, pattern: '*.txt' }),
  search: (call) => call('search', { root_path: 'dir', pattern: 'SECRET', case_sensitive: true, context_lines: 1 }),
  'search from above': (call) => call('search', { root_path: '.', pattern: '9f31-outside' }),
  info: (call) => call('info', { path: `dir/${OUTSIDE_NAME}` }),
};

/** Whether an answer tells something of what is outside. A refusal may say the path back that was asked for. */
function leaks(answer: string, isError: boolean): boolean {
  if (answer.includes(SECRET)) return true;
  return !isError && answer.includes(OUTSIDE_NAME) && !answer.includes('"exists":false');
}

describe.each<BackendName>(['openat2', 'procfd'])('a folder swapped with a link out, on %s', (backend) => {
  test.each([
    { dialect: 'memory', attacks: MEMORY, refusal: 'path_security' },
    { dialect: 'classic', attacks: CLASSIC, refusal: 'path_validation_error' },
  ] as const)(
    'nothing leaks through $dialect and nothing outside is touched',
    async (attacked) => {
      const { dialect, attacks, refusal } = attacked;
      using layout = swapLayout();
      const before = layout.snapshotOutside();
      const config = configFromDirs([layout.rootPath]);
      await using server = new InProcessServer({
        dialect,
        config: { ...config, durableWrites: false },
        boundRoot: config.roots[0]?.name,
        fence: backend,
      });
      const names = DIALECTS[dialect].tools.map(({ name }) => name);
      const leaked: string[] = [];
      const done = new Map<string, number>();
      const refused = new Map<string, number>();
      const call: Call = async (name, args) => {
        const result = await server.call(name, args);
        const { isError, text } = result;
        if (leaks(text, isError)) leaked.push(`${name} ${JSON.stringify(args)}: ${text}`);
        if (isError) count(refused, server.errorOf(name, result).code);
        else count(done, name);
        return text;
      };

      // The attack is met from both sides: every tool finds the folder to be one, and the link is seen.
      const met = () => names.every((name) => done.has(name)) && refused.has(refusal);
      let turn = 0;
      for (let round = 0; round === 0 || (!met() && round < MAX_ROUNDS); round += 1) {
        await using swapper = await startSwapper(layout.first, layout.second, SECONDS + 0.3);
        for (const end = performance.now() + SECONDS * 1000; performance.now() < end; turn += 1) {
          for (const attack of Object.values(attacks)) await attack(call, turn);
        }
        expect(await swapper.finished()).toBeGreaterThan(1000);
      }

      expect(leaked).toEqual([]);
      expect(layout.snapshotOutside()).toBe(before);
      expect(filesBelow(layout.rootPath).filter((file) => fs.readFileSync(file, 'utf8').includes(SECRET))).toEqual([]);
      expect([...done.keys()].sort()).toEqual(names.sort());
      expect(refused.get(refusal)).toBeGreaterThan(0);
      expect(refused.get('internal_error')).toBe(undefined);
    },
    60_000,
  );
});

/** Regular files, without following links. */
function filesBelow(folder: string): string[] {
  return fs.readdirSync(folder, { withFileTypes: true, recursive: true }).flatMap((entry) => {
    return entry.isFile() ? [path.join(entry.parentPath, entry.name)] : [];
  });
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
