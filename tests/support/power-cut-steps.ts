import fs from 'node:fs';
import path from 'node:path';
import type { TestServer } from './start-server.ts';
import type { Args } from './tool-client.ts';

/** One call that changes something. */
export interface Step {
  readonly name: string;
  run(): Promise<unknown>;
  /** A path below which a cut leaves everything as it was before the call, or everything as it is after it. */
  readonly whole?: string;
  /** What is moved, from where to where: a cut leaves it whole in one of the two places. */
  readonly moved?: readonly [string, string];
}

const FILES_OF_TREE = 24;
const TEXT = 'a line\n'.repeat(9_000);
const CREATING_PATCH = '--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+new\n';

/** Puts files into a folder for calls to work with. */
export function furnish(folder: string): void {
  const put = (name: string, content: string): void => {
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    fs.writeFileSync(path.join(folder, name), content);
  };
  for (let i = 0; i < FILES_OF_TREE; i += 1) put(`tree/d${i % 3}/f${i}`, `content of ${i}\n`.repeat(50));
  for (let i = 0; i < FILES_OF_TREE; i += 2) put(`merged/tree/d${i % 3}/f${i}`, 'to be replaced');
  for (const name of ['a', 'b']) put(`few/${name}`, name.repeat(5000));
  put('file', 'one\ntwo\nthree\n');
  fs.symlinkSync('d0/f0', path.join(folder, 'tree/link'));
  fs.chmodSync(path.join(folder, 'few'), 0o750);
}

/** Every way in which a tool of the workspace dialect changes files, in the roots `near`, which is furnished, and `far`. */
export function workspaceSteps(server: TestServer): Step[] {
  const step = (name: string, tool: string, args: Args, rest: Partial<Step> = {}): Step => ({
    name,
    run: () => server.ok(tool, args),
    ...rest,
  });
  const near = (tool: string, path: string, args: Args = {}, name = tool): Step =>
    step(name, tool, { root: 'near', path, ...args });
  const copy = (name: string, source_path: string, dest_path: string, rest: Partial<Step> = {}): Step =>
    step(name, 'copy', { source_root: 'near', dest_root: 'near', source_path, dest_path }, rest);
  const move = (name: string, from: string, to: string): Step => {
    const [source_root, ...source] = from.split('/');
    const [dest_root, ...dest] = to.split('/');
    const args = { source_root, source_path: source.join('/'), dest_root, dest_path: dest.join('/') };
    return step(name, 'move', args, { moved: [from, to] });
  };
  return [
    near('write_file', 'file', { content: `${TEXT}end\n` }),
    near('write_file', 'new/deep/file', { content: TEXT, mode: 'create_only' }, 'create'),
    near('write_file', 'file', { content: 'more\n', mode: 'append' }, 'append'),
    near('write_file', 'logs/today/log', { content: TEXT, mode: 'append' }, 'append with new parents'),
    near('edit_file', 'file', { old_text: 'end\n', new_text: 'the end\n' }),
    near('patch_file', 'file', { patch: '@@ -9001,2 +9001,2 @@\n-the end\n+The end\n more\n' }),
    near('patch_file', 'patched/new/f', { patch: CREATING_PATCH }, 'patch that creates'),
    near('write_file', 'tree/d0/f0', { content: TEXT }, 'write into a tree'),
    copy('copy a file', 'file', 'copies/new/file'),
    copy('copy a small folder', 'few', 'few-copy', { whole: 'near/few-copy' }),
    copy('copy a folder', 'tree', 'tree-copy', { whole: 'near/tree-copy' }),
    copy('copy a folder over another', 'tree', 'merged'),
    move('move a file', 'near/copies/new/file', 'near/moved/new/file'),
    move('move a folder', 'near/few-copy', 'near/few-moved/new'),
    move('move a small folder to another file system', 'near/few-moved/new', 'far/few'),
    move('move a folder to another file system', 'near/tree-copy', 'far/deep/new/tree'),
    move('move a folder back', 'far/deep/new/tree', 'near/back'),
    move('move a file to another file system, over another', 'near/moved/new/file', 'far/file'),
    move('move a link to another file system', 'near/back/link', 'far/links/new'),
    near('create_folder', 'made/a/b'),
    near('remove_folder', 'back'),
    near('remove_file', 'logs/today/log'),
  ];
}
