import { describe, expect, test } from 'vitest';
import { workspaceWithHistory } from '../../src/dialects/workspace/with-history.ts';
import { BACKEND_NAMES } from '../../src/fence/index.ts';
import type { Confirm } from '../../src/server/confirm/approve.ts';
import { CONFIRMABLE_CAPABILITIES } from '../../src/tools/capabilities.ts';
import type { CallResult, DialectName } from '../support/dialect-contracts.ts';
import { DENIED, GuardLayout, HIDDEN, NOT_TO_BE_MADE, PROTECTED } from '../support/guard-layout.ts';
import { DIALECTS, InProcessServer } from '../support/in-process-server.ts';
import { OWN_FOLDER, OwnFolderLayout } from '../support/own-folder-layout.ts';
import type { Args } from '../support/tool-client.ts';

/** The calls of a tool that have a path in each place where it takes one. */
type Calls = (path: string) => readonly Args[];

interface ToolCases {
  /** Calls that read what is at the path. */
  readonly reads?: Calls;
  /** Calls that change, move or remove what is at the path, or put something there. */
  readonly changes?: Calls;
}

const PATCH = '@@ -1 +1 @@\n-plain text\n+patched\n';
const CREATION = '--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+made\n';
const w = { root: 'w' };

const NO_FILES: ToolCases = {};

/** One entry for each tool of each dialect: a tool without one fails the test. */
const CASES: Readonly<Record<DialectName, Readonly<Record<string, ToolCases>>>> = {
  workspace: {
    list_roots: NO_FILES,
    list_folder: {
      reads: (path) => [
        { ...w, path },
        { ...w, path, depth: 5 },
      ],
    },
    read_file: {
      reads: (path) => [
        { ...w, path },
        { ...w, path, offset_lines: 1 },
        { ...w, path, offset_bytes: 0 },
      ],
    },
    read_files: {
      reads: (path) => [
        { ...w, paths: [path] },
        { ...w, pattern: path },
        { ...w, pattern: `${path}/**` },
      ],
    },
    stat_file: { reads: (path) => [{ ...w, path }] },
    hash_file: { reads: (path) => [{ ...w, path }] },
    permissions_file: { reads: (path) => [{ ...w, path }] },
    grep: {
      reads: (path) => [
        { ...w, path, pattern: '.' },
        { ...w, pattern: 'SECRET', glob_filter: path },
      ],
    },
    glob: {
      reads: (path) => [
        { ...w, path, pattern: '**' },
        { ...w, pattern: path, type: 'all' },
      ],
    },
    write_file: {
      changes: (path) => [
        { ...w, path, content: 'x' },
        { ...w, path, content: 'x', mode: 'append' },
        { ...w, path, content: 'x', mode: 'create_only' },
        { ...w, path, content: 'x', dry_run: true },
      ],
    },
    edit_file: { changes: (path) => [{ ...w, path, edits: [{ old_text: 'E', new_text: 'x' }] }] },
    patch_file: {
      changes: (path) => [
        { ...w, path, patch: PATCH },
        { ...w, path, patch: CREATION },
      ],
    },
    remove_file: { changes: (path) => [{ ...w, path }] },
    create_folder: {
      changes: (path) => [
        { ...w, path },
        { ...w, path: `${path}/new` },
      ],
    },
    remove_folder: { changes: (path) => [{ ...w, path }] },
    copy: {
      reads: (path) => [
        { source_root: 'w', source_path: path, dest_root: 'other', dest_path: 'copy' },
        { source_root: 'w', source_path: path, dest_root: 'w', dest_path: 'copy' },
      ],
      changes: (path) => [
        { source_root: 'w', source_path: 'ok.txt', dest_root: 'w', dest_path: path },
        { source_root: 'w', source_path: 'fake', dest_root: 'w', dest_path: path },
      ],
    },
    move: {
      changes: (path) => [
        { source_root: 'w', source_path: path, dest_root: 'w', dest_path: 'moved' },
        { source_root: 'w', source_path: path, dest_root: 'other', dest_path: 'moved' },
        { source_root: 'w', source_path: 'ok.txt', dest_root: 'w', dest_path: path },
        { source_root: 'w', source_path: 'fake', dest_root: 'w', dest_path: path },
        { source_root: 'w', source_path: 'to-fake', dest_root: 'w', dest_path: path },
      ],
    },
  },
  memory: {
    view: { reads: (path) => [{ path }] },
    create: { changes: (path) => [{ path, content: 'x', encoding: 'utf-8' }] },
    str_replace: { changes: (path) => [{ path, old_str: 'SECRET', new_str: 'x' }] },
    insert: { changes: (path) => [{ path, insert_line: 1, new_str: 'x' }] },
    delete: { changes: (path) => [{ path }] },
    rename: {
      changes: (path) => [
        { old_path: path, new_path: 'moved' },
        { old_path: 'ok.txt', new_path: path },
        { old_path: 'fake', new_path: path },
      ],
    },
  },
  classic: {
    list: { reads: (path) => [{ path }, { path, recursive: true }] },
    read: { reads: (path) => [{ path }] },
    info: { reads: (path) => [{ path }] },
    search: {
      reads: (path) => [
        { root_path: path, pattern: '*', recursive: true },
        { root_path: '.', pattern: path, content_pattern: '.' },
      ],
    },
    write: {
      changes: (path) => [
        { path, content: 'x' },
        { path, content: 'x', mode: 'append' },
      ],
    },
    mkdir: { changes: (path) => [{ path }] },
    delete: { changes: (path) => [{ path }, { path, recursive: true }, { path, recursive: true, force: true }] },
    copy: {
      reads: (path) => [{ source: path, destination: 'copied' }],
      changes: (path) => [
        { source: 'ok.txt', destination: path, overwrite: true },
        { source: 'fake', destination: path, overwrite: true },
      ],
    },
    move: {
      changes: (path) => [
        { source: path, destination: 'moved' },
        { source: 'ok.txt', destination: path, overwrite: true },
        { source: 'fake', destination: path, overwrite: true },
        { source: 'to-fake', destination: path, overwrite: true },
      ],
    },
  },
  // Works on files of the client, which no root has.
  guide: { guide_read_file: NO_FILES, guide_list_directory: NO_FILES, guide_cache_file: NO_FILES },
};

/** The tools of a workspace with history besides. */
const HISTORY_CASES: Readonly<Record<string, ToolCases>> = {
  list_changes: { reads: (path) => [{ ...w, path }] },
  undo_change: { changes: (path) => [{ ...w, change: path }] },
};

/** A change that each dialect allows. */
const ALLOWED = {
  workspace: ['remove_folder', { ...w, path: 'fake' }],
  memory: ['delete', { path: 'ok.txt' }],
  classic: ['delete', { path: 'fake', recursive: true }],
} as const;

const FOLDERS = ['.', 'dir', 'only', 'sub'];

describe.each(Object.keys(CASES) as DialectName[])('%s', (dialect) => {
  test('every tool has a case', () => {
    expect(Object.keys(CASES[dialect]).sort()).toEqual(DIALECTS[dialect].tools.map(({ name }) => name).sort());
  });
});

test('every tool of a workspace with history has a case', () => {
  const names = Object.keys({ ...CASES.workspace, ...HISTORY_CASES });
  expect(names.sort()).toEqual(workspaceWithHistory.tools.map(({ name }) => name).sort());
});

describe.each(['workspace', 'memory', 'classic'] as const)('%s', (dialect) => {
  describe.each(BACKEND_NAMES)('%s', (fence) => {
    test.each([true, false])(
      "the program's own folder is not there for any tool, with history: %s",
      async (history) => {
        using layout = new OwnFolderLayout(history);
        await using server = new InProcessServer({ dialect, config: layout.config(), boundRoot: 'w', fence });
        const cases = { ...CASES[dialect], ...(dialect === 'workspace' && history && HISTORY_CASES) };
        for (const [tool, { reads = () => [], changes = () => [] }] of Object.entries(cases)) {
          for (const path of [...OWN_FOLDER, ...FOLDERS]) {
            for (const args of [...reads(path), ...changes(path)]) {
              const about = `${tool} ${JSON.stringify(args)}`;
              const result = await server.call(tool, args);
              expect(leaks(result, args), about).toEqual([]);
              expect(layout.problems(), `${about}: ${result.text}`).toEqual([]);
              if (!result.isError) layout.reset();
            }
          }
        }
      },
    );

    const start = (layout: GuardLayout, more?: object) =>
      new InProcessServer({ dialect, config: layout.config(more), boundRoot: 'w', fence });

    test('nothing that is denied is read, found, counted or named', async () => {
      using layout = new GuardLayout();
      await using server = start(layout);
      for (const [tool, { reads = () => [] }] of Object.entries(CASES[dialect])) {
        for (const path of [...DENIED, ...FOLDERS]) {
          for (const args of reads(path)) {
            const about = `${tool} ${JSON.stringify(args)}`;
            const result = await server.call(tool, args);
            expect(leaks(result, args), about).toEqual([]);
            expect(layout.isIntact, about).toBe(true);
            if (tool === 'copy') layout.reset();
          }
        }
      }
    });

    test('nothing that is denied or protected is changed, moved, removed or made', async () => {
      using layout = new GuardLayout();
      await using server = start(layout);
      for (const [tool, { changes = () => [] }] of Object.entries(CASES[dialect])) {
        for (const path of [...DENIED, ...NOT_TO_BE_MADE, ...PROTECTED, ...FOLDERS]) {
          for (const args of changes(path)) {
            const about = `${tool} ${JSON.stringify(args)}`;
            const result = await server.call(tool, args);
            expect(layout.isIntact, `${about}: ${result.text}`).toBe(true);
            expect(leaks(result, args), about).toEqual([]);
            if (!result.isError) layout.reset();
          }
        }
      }
      // What is not guarded can still be changed, or none of this would mean anything.
      const [tool, args] = ALLOWED[dialect];
      await server.ok(tool, args);
    });

    test('the rules come before a question to a person, who is not told what is denied', async () => {
      using layout = new GuardLayout();
      await using server = start(layout);
      await using confirming = start(layout, { confirm: CONFIRMABLE_CAPABILITIES });
      let refused = 0;
      const asked: string[] = [];
      const confirm: Confirm = async ({ message }) => {
        asked.push(message);
        return 'agreed';
      };
      for (const [tool, { changes = () => [] }] of Object.entries(CASES[dialect])) {
        for (const path of [...DENIED, ...NOT_TO_BE_MADE, ...PROTECTED, ...FOLDERS]) {
          for (const args of changes(path)) {
            const about = `${tool} ${JSON.stringify(args)}`;
            const plain = await server.call(tool, args);
            if (!plain.isError) layout.reset();
            const result = await confirming.call(tool, args, { confirm });
            if (!result.isError) layout.reset();
            const shown = asked.splice(0).join();
            if (isRefusal(plain)) {
              expect(isRefusal(result), about).toBe(true);
              if (!DECIDED_LATE.test(about)) expect(shown, about).toBe('');
              refused += 1;
            }
            expect(leaks({ ...result, text: result.text + shown }, args), about).toEqual([]);
            expect(layout.isIntact, about).toBe(true);
          }
        }
      }
      expect(refused).toBeGreaterThan(20);
    });

    test('a read-only root changes in no way', async () => {
      using layout = new GuardLayout();
      await using server = start(layout, { readOnly: true });
      const before = layout.snapshot();
      for (const [tool, { changes = () => [] }] of Object.entries(CASES[dialect])) {
        for (const path of ['ok.txt', 'dir', 'new/f.txt', 'sub/code.txt']) {
          for (const args of changes(path)) {
            const { isError, text } = await server.call(tool, args);
            expect(isError, `${tool} ${JSON.stringify(args)}: ${text}`).toBe(true);
          }
        }
      }
      expect(layout.snapshot()).toBe(before);
    });
  });
});

test('a copy out of a read-only root is possible', async () => {
  using layout = new GuardLayout();
  await using server = new InProcessServer({ dialect: 'workspace', config: layout.config({ readOnly: true }) });
  const args = { source_root: 'w', source_path: 'dir', dest_root: 'other', dest_path: 'copy' };
  expect(await server.ok('copy', args)).toEqual({
    source: 'dir',
    destination: 'copy',
    is_directory: true,
    skipped: ['to-key'],
  });
});

/**
 * Calls that are only refused by a rule while they are made, after the question: by where a link leads that leads nowhere, or by
 * what a folder would hold after it was moved.
 */
const DECIDED_LATE = /"(?:dir\/to-key|to-own)|"(?:fake|ok\.txt)".*"(?:sub\/)?\.git(?:\/modules)?"/;

/** Whether a call failed because of a rule of the root. */
function isRefusal({ isError, text }: CallResult): boolean {
  return isError && /operator's rules|"permission_denied"/.test(text);
}

/** What an answer shows that does not exist for the client, except for what the client itself has written. */
function leaks({ text, raw }: CallResult, args: Args): string[] {
  const shown = `${text} ${JSON.stringify(raw)}`;
  const written = JSON.stringify(args);
  return HIDDEN.filter((hidden) => shown.includes(hidden) && !written.includes(hidden));
}
