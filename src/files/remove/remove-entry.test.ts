import { expect, test } from 'vitest';
import { parseCallerPath } from '../../fence/index.ts';
import { onEveryBackend, outcome, type Sandbox } from '../../fence/sandbox.fixture.ts';
import { DEFAULT_CONTEXT } from '../../runtime/operation-context.ts';
import { ToolError } from '../../tools/errors.ts';
import { type RemoveEntryOptions, removeEntry } from './remove-entry.ts';

const remove = ({ root }: Sandbox, raw: string, options: RemoveEntryOptions = {}) =>
  removeEntry(root, parseCallerPath(raw), options, DEFAULT_CONTEXT);

onEveryBackend((open) => {
  test('removes files, links themselves and folders, and returns their type', async () => {
    using box = open();
    box.file('f');
    box.file('d/sub/f');
    box.file('kept/f');
    box.link('kept', 'to-folder');
    box.link('../outside/secret', 'outward');
    expect(await remove(box, 'f')).toEqual({ type: 'file' });
    expect(await remove(box, 'to-folder')).toEqual({ type: 'symlink' });
    expect(await remove(box, 'outward')).toEqual({ type: 'symlink' });
    expect(await remove(box, 'd')).toEqual({ type: 'directory' });
    expect(box.tree()).toEqual(['kept/', 'kept/f']);
    expect(await outcome(remove(box, 'f'))).toBe('not_found');
    expect(await outcome(remove(box, 'kept/f/x'))).toBe('not_directory');
    expect(await outcome(remove(box, '.'))).toBe('root_itself');
  });

  test('without recursive only an empty folder is removed', async () => {
    using box = open();
    box.file('d/.hidden');
    box.folder('empty');
    expect(await remove(box, 'empty', { recursive: false })).toEqual({ type: 'directory' });
    await expect(remove(box, 'd', { recursive: false })).rejects.toMatchObject({
      code: 'not_empty',
      path: 'd',
      root: 'workspace',
    });
    expect(box.tree()).toEqual(['d/', 'd/.hidden']);
  });

  test('beforeFolder can refuse a folder, and is not called for anything else', async () => {
    using box = open();
    box.file('d/f');
    box.file('f');
    const beforeFolder = () => {
      throw new ToolError('tool_not_allowed', { tool: 'remove_folder' });
    };
    expect(await outcome(remove(box, 'd', { beforeFolder }))).toBe('tool_not_allowed');
    expect(await outcome(remove(box, '.', { beforeFolder }))).toBe('tool_not_allowed');
    expect(await outcome(remove(box, 'f', { beforeFolder }))).toBe('ok');
    expect(box.tree()).toEqual(['d/', 'd/f']);
  });
});
