import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { configFromDirs } from '../../src/config/folders/config-from-dirs.ts';
import { withHistory } from '../../src/config/with-history.ts';
import { FileStorage } from '../../src/dialects/memory/file-storage.ts';
import { COMMANDS, type CommandName } from '../../src/dialects/memory-tool/commands.ts';
import { createMemoryTool } from '../../src/dialects/memory-tool/create-memory-tool.ts';
import { workspaceWithHistory } from '../../src/dialects/workspace/with-history.ts';
import { Root } from '../../src/fence/index.ts';
import { History } from '../../src/history/index.ts';
import { applyUndo, type PastChange, planUndo, selectChanges } from '../../src/undo/index.ts';
import { CLIENT, DIALECTS, InProcessServer } from '../support/in-process-server.ts';
import { tempDir } from '../support/temp-dir.ts';
import type { Args } from '../support/tool-client.ts';
import { treeState } from '../support/tree-state.ts';

/** A call, and the paths of the entries that it changes, in the root `w` unless said otherwise. */
type Case = readonly [args: Args, ...paths: string[]];

const PATCH = '@@ -1 +1 @@\n-one\n+patched\n';
const CREATION = '--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+made\n';
const w = { root: 'w' };
const ends = (source_path: string, dest_path: string, more: Args = {}): Args => ({
  source_root: 'w',
  source_path,
  dest_root: 'w',
  dest_path,
  ...more,
});
const classicEnds = (source: string, destination: string, more: Args = {}): Args => ({ source, destination, ...more });

/** One entry for each tool of each dialect that changes files: a tool without one fails the test. */
const CASES: Readonly<Record<'workspace' | 'memory' | 'classic', Readonly<Record<string, readonly Case[]>>>> = {
  workspace: {
    write_file: [
      [{ ...w, path: 'f', content: 'new' }, 'f'],
      [{ ...w, path: 'link', content: 'new' }, 'f'],
      [{ ...w, path: 'to-dir/g', content: 'new' }, 'dir/g'],
      [{ ...w, path: 'to-dir/new', content: 'new' }, 'dir/new'],
      [{ ...w, path: 'a/b/new', content: 'new' }, 'a', 'a/b', 'a/b/new'],
      [{ ...w, path: 'f', content: 'more', mode: 'append' }, 'f'],
      [{ ...w, path: 'new', content: 'more', mode: 'append' }, 'new'],
      [{ ...w, path: 'new', content: 'new', mode: 'create_only' }, 'new'],
    ],
    edit_file: [[{ ...w, path: 'dir/g', old_text: 'two', new_text: 'three' }, 'dir/g']],
    patch_file: [
      [{ ...w, path: 'f', patch: PATCH }, 'f'],
      [{ ...w, path: 'x/new', patch: CREATION }, 'x', 'x/new'],
    ],
    remove_file: [
      [{ ...w, path: 'f' }, 'f'],
      [{ ...w, path: 'link' }, 'link'],
      [{ ...w, path: 'to-dir/g' }, 'dir/g'],
    ],
    create_folder: [[{ ...w, path: 'x/y' }, 'x', 'x/y']],
    remove_folder: [
      [{ ...w, path: 'dir' }, 'dir'],
      [{ ...w, path: 'empty' }, 'empty'],
    ],
    copy: [
      [ends('f', 'new'), 'new'],
      [ends('f', 'dir/g'), 'dir/g'],
      [ends('f', 'dir'), 'dir/f'],
      [ends('dir', 'x/new'), 'x', 'x/new'],
      [ends('dir', 'other'), 'other/dir'],
    ],
    move: [
      [ends('f', 'new'), 'f'],
      [ends('f', 'dir/g'), 'f'],
      [ends('dir', 'x/new'), 'x', 'dir'],
      [ends('dir', 'empty'), 'dir'],
      [ends('link', 'dir/link'), 'link'],
    ],
    undo_change: [],
  },
  memory: {
    create: [[{ path: 'x/new', content: 'new', encoding: 'utf-8' }, 'x', 'x/new']],
    str_replace: [[{ path: 'f', old_str: 'one', new_str: 'three' }, 'f']],
    insert: [[{ path: 'f', insert_line: 1, new_str: 'zero\n' }, 'f']],
    delete: [
      [{ path: 'f' }, 'f'],
      [{ path: 'empty' }, 'empty'],
    ],
    rename: [
      [{ old_path: 'f', new_path: 'x/new' }, 'x', 'f'],
      [{ old_path: 'dir', new_path: 'new' }, 'dir'],
    ],
  },
  classic: {
    write: [
      [{ path: 'f', content: 'new' }, 'f'],
      [{ path: 'f', content: 'more', mode: 'append' }, 'f'],
      [{ path: 'x/new', content: 'new', mode: 'create', make_dirs: true }, 'x', 'x/new'],
    ],
    mkdir: [[{ path: 'x/y' }, 'x', 'x/y']],
    delete: [
      [{ path: 'f' }, 'f'],
      [{ path: 'dir', recursive: true }, 'dir'],
      [{ path: 'dir', recursive: true, force: true }, 'dir'],
    ],
    copy: [
      [classicEnds('f', 'dir/g', { overwrite: true }), 'dir/g'],
      [classicEnds('dir', 'x/new'), 'x', 'x/new'],
    ],
    move: [
      [classicEnds('f', 'dir/g', { overwrite: true }), 'f'],
      [classicEnds('dir', 'new'), 'dir'],
    ],
  },
};

/** The commands of Claude's memory tool that change files. */
const COMMAND_CASES: Readonly<Record<Exclude<CommandName, 'view'>, readonly Case[]>> = {
  create: [[{ path: '/memories/x/new', file_text: 'new' }, 'x', 'x/new']],
  str_replace: [[{ path: '/memories/f', old_str: 'one', new_str: 'three' }, 'f']],
  insert: [[{ path: '/memories/f', insert_line: 1, insert_text: 'two' }, 'f']],
  delete: [
    [{ path: '/memories/f' }, 'f'],
    [{ path: '/memories/dir' }, 'dir'],
  ],
  rename: [[{ old_path: '/memories/f', new_path: '/memories/x/new' }, 'x', 'f']],
};

/** Makes the folders `w` and `v`, with files of odd modes and times in the first. */
function layout(): string {
  const base = tempDir('ringfence-history-');
  const at = (name: string): string => path.join(base, 'w', name);
  for (const name of ['dir/deep', 'empty', 'other']) fs.mkdirSync(at(name), { recursive: true });
  fs.mkdirSync(path.join(base, 'v'));
  fs.chmodSync(at('empty'), 0o750);
  const files = { f: 'one\n', 'dir/g': 'two\n', 'dir/deep/bytes': '\0\u00ff', 'dir/.hidden': '' };
  for (const [name, content] of Object.entries(files)) {
    fs.writeFileSync(at(name), content);
    fs.chmodSync(at(name), 0o640);
    fs.utimesSync(at(name), 1_000_000_000.123, 1_200_000_000.456);
  }
  fs.symlinkSync('f', at('link'));
  fs.symlinkSync('dir', at('to-dir'));
  fs.symlinkSync('../f', at('dir/link'));
  return base;
}

const states = (base: string): string[][] => [treeState(path.join(base, 'w')), treeState(path.join(base, 'v'))];

async function undo(history: History, changes: readonly PastChange[]): Promise<void> {
  const plan = planUndo(history, history.root, changes);
  expect(plan.conflicts).toEqual([]);
  await applyUndo(plan, { caller: { tool: 'undo' } });
}

function pathsOf({ steps }: PastChange): string[] {
  return steps.map(({ step }) => step.path);
}

describe.each(['workspace', 'memory', 'classic'] as const)('%s', (dialect) => {
  const start = (base: string): InProcessServer<typeof dialect> => {
    const folders = ['w', 'v'].map((name) => path.join(base, name));
    return new InProcessServer({ dialect, config: withHistory(configFromDirs(folders)), boundRoot: 'w' });
  };

  test('every tool that changes files has a case', () => {
    const { tools } = dialect === 'workspace' ? workspaceWithHistory : DIALECTS[dialect];
    const changing = tools.filter(({ effect }) => effect !== 'read').map(({ name }) => name);
    expect(Object.keys(CASES[dialect]).sort()).toEqual(changing.sort());
  });

  const calls = Object.entries(CASES[dialect]).flatMap(([tool, cases]) => cases.map((each) => [tool, each] as const));
  test.each(calls)('%s %j is recorded and can be undone', async (tool, [args, ...paths]) => {
    const base = layout();
    const before = states(base);
    await using server = start(base);
    const result = await server.ok(tool, args);
    const after = states(base);
    expect(after).not.toEqual(before);
    const history = server.history('w');
    const [change, ...others] = selectChanges(history, {});
    expect(others).toEqual([]);
    expect(change?.caller).toMatchObject({ tool, client: CLIENT, owner: expect.stringMatching(/^process:/) });
    expect(change?.caller.call).toMatch(/^[0-9a-f]{16}$/);
    expect(pathsOf(change as PastChange)).toEqual(paths);
    if (dialect === 'workspace') expect(result.change).toBe(change?.id);
    else expect(result).not.toHaveProperty('change');
    await undo(history, [change as PastChange]);
    expect(states(base)).toEqual(before);
    // An undo can be undone.
    await undo(history, selectChanges(history, { limit: 1 }));
    expect(states(base)).toEqual(after);
  });

  test('a call that fails or only reads leaves no record', async () => {
    const base = layout();
    await using server = start(base);
    const failing = {
      workspace: [
        ['remove_file', { ...w, path: 'dir' }],
        ['write_file', { ...w, path: 'f', content: 'x', dry_run: true }],
        ['read_file', { ...w, path: 'f' }],
      ],
      memory: [
        ['delete', { path: 'dir' }],
        ['view', { path: 'f' }],
      ],
      classic: [
        ['delete', { path: 'dir' }],
        ['read', { path: 'f' }],
      ],
    } as const;
    for (const [tool, args] of failing[dialect]) await server.call(tool, args);
    expect(selectChanges(server.history('w'), {})).toEqual([]);
  });
});

describe('between two roots with history', () => {
  const start = (base: string) => {
    const folders = ['w', 'v'].map((name) => path.join(base, name));
    return new InProcessServer({ dialect: 'workspace', config: withHistory(configFromDirs(folders)) });
  };

  test.each(['f', 'dir'])('a move of %s is one change in each', async (name) => {
    const base = layout();
    const before = states(base);
    await using server = start(base);
    const result = await server.ok('move', ends(name, 'moved', { dest_root: 'v' }));
    const [source] = selectChanges(server.history('w'), {});
    const [destination] = selectChanges(server.history('v'), {});
    expect(result).toMatchObject({ change: destination?.id, source_change: source?.id });
    expect([pathsOf(source as PastChange), pathsOf(destination as PastChange)]).toEqual([[name], ['moved']]);
    expect(source?.caller).toEqual(destination?.caller);
    await undo(server.history('v'), [destination as PastChange]);
    await undo(server.history('w'), [source as PastChange]);
    expect(states(base)).toEqual(before);
  });

  test('a copy is a change of its destination alone', async () => {
    const base = layout();
    await using server = start(base);
    const result = await server.ok('copy', ends('dir', 'copy', { dest_root: 'v' }));
    expect(selectChanges(server.history('w'), {})).toEqual([]);
    expect(selectChanges(server.history('v'), {}).map(({ id }) => id)).toEqual([result.change]);
    expect(result).not.toHaveProperty('source_change');
  });
});

describe("Claude's memory tool", () => {
  test('every command that changes files has a case', () => {
    const changing = Object.keys(COMMANDS).filter((name) => name !== 'view');
    expect(Object.keys(COMMAND_CASES).sort()).toEqual(changing.sort());
  });

  const calls = Object.entries(COMMAND_CASES).flatMap(([tool, cases]) => cases.map((each) => [tool, each] as const));
  test.each(calls)('%s %j is recorded and can be undone', async (command, [args, ...paths]) => {
    const base = layout();
    const before = states(base);
    const folder = path.join(base, 'w');
    const memory = createMemoryTool({ root: folder, history: true });
    expect(await memory.execute({ command, ...args })).not.toMatch(/^Error/);
    await memory.close();
    expect(states(base)).not.toEqual(before);
    using root = Root.open('memories', folder);
    using history = History.open(root);
    const [change, ...others] = selectChanges(history, {});
    expect(others).toEqual([]);
    expect(change?.caller).toEqual({ tool: command, client: 'memory-tool' });
    expect(pathsOf(change as PastChange)).toEqual(paths);
    await undo(history, [change as PastChange]);
    expect(states(base)).toEqual(before);
  });

  test('without the option, nothing is kept', async () => {
    const base = layout();
    await using memory = createMemoryTool({ root: path.join(base, 'w') });
    await memory.execute({ command: 'delete', path: '/memories/f' });
    expect(fs.existsSync(path.join(base, 'w/.ringfence'))).toBe(false);
  });

  test('a history that cannot be opened is an error of its own', () => {
    const base = layout();
    const folder = path.join(base, 'w');
    fs.writeFileSync(path.join(folder, '.ringfence'), '');
    expect(() => createMemoryTool({ root: folder, history: true })).toThrow(
      /the history of the folder .* not_directory/,
    );
  });
});

test('FileStorage records what its methods change', async () => {
  const base = layout();
  const before = states(base);
  const folder = path.join(base, 'w');
  const storage = FileStorage.open(folder, { history: { maxBytes: 1_000_000 } });
  await storage.str_replace('f', 'one', 'three');
  await storage.close();
  using root = Root.open('memory', folder);
  using history = History.open(root);
  const [change] = selectChanges(history, {});
  expect(change?.caller).toEqual({ tool: 'str_replace', client: 'file-storage' });
  await undo(history, [change as PastChange]);
  expect(states(base)).toEqual(before);
});
