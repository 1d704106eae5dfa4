import { FenceError, isFenceError, type Root } from '../../fence/index.ts';
import { move } from '../../files/copy/move.ts';
import { type Edited, insertText, replaceText } from '../../files/edit/edit-file.ts';
import { textToBytes } from '../../files/encoding.ts';
import { FileError } from '../../files/errors.ts';
import { refuseOutwardLink } from '../../files/links.ts';
import { removeEntry } from '../../files/remove/remove-entry.ts';
import { writeFile } from '../../files/write/write-file.ts';
import type { OperationContext } from '../../runtime/operation-context.ts';
import { numberedLines } from '../../wire/content-json.ts';
import type { CommandInput, CommandName } from './commands.ts';
import { parseMemoryPath } from './memory-path.ts';
import { viewFile } from './view-file.ts';
import { viewFolder } from './view-folder.ts';

/** How many lines of context a snippet has above and below the edit. */
const CONTEXT_LINES = 2;
const DURABLE = { durable: true };

type CommandHandlers = {
  readonly [N in CommandName]: (root: Root, input: CommandInput<N>, context: OperationContext) => Promise<string>;
};

/** Runs each command and returns its documented success text. Failures are thrown as a `RingfenceError`. */
export const COMMAND_HANDLERS: CommandHandlers = {
  view: async (root, { path, view_range }) => {
    const target = parseMemoryPath(root, path);
    try {
      return await viewFile(root, target, view_range ?? undefined);
    } catch (error) {
      if (!isFenceError(error, 'is_directory')) throw error;
      return viewFolder(root, target);
    }
  },

  create: async (root, { path, file_text }, context) => {
    const target = parseMemoryPath(root, path);
    const options = { mode: 'create_only', isPrivate: true, ...DURABLE } as const;
    await writeFile(root, target, textToBytes(file_text, 'file_text'), options, context);
    return `File created successfully at: ${path}`;
  },

  str_replace: async (root, { path, old_str, new_str }, { caller }) => {
    const replacement = { oldText: old_str, newText: new_str };
    const edited = await replaceText(root, parseMemoryPath(root, path), replacement, { ...DURABLE, caller });
    return `The memory file has been edited. Here is the snippet showing the change (with line numbers):\n${snippet(edited, new_str)}`;
  },

  insert: async (root, { path, insert_line, insert_text }, { caller }) => {
    const insertion = { after: insert_line, text: insert_text, as: 'lines' } as const;
    await insertText(root, parseMemoryPath(root, path), insertion, { ...DURABLE, caller });
    return `The file ${path} has been edited.`;
  },

  delete: async (root, { path }, context) => {
    const target = parseMemoryPath(root, path);
    if (target.segments.length === 0) throw new FileError('root_itself', { action: 'delete' });
    refuseOutwardLink(root, target);
    await removeEntry(root, target, DURABLE, context);
    return `Successfully deleted ${path}`;
  },

  rename: async (root, { old_path, new_path }, context) => {
    const from = { root, path: parseMemoryPath(root, old_path) };
    const to = { root, path: parseMemoryPath(root, new_path) };
    if (from.path.segments.length === 0) throw new FileError('root_itself', { action: 'rename' });
    if (to.path.segments.length === 0) throw new FenceError('already_exists', {}, { path: new_path });
    refuseOutwardLink(root, from.path);
    await move(from, to, { ...DURABLE, overwrite: false, intoFolders: false, isPrivate: true }, context);
    return `Successfully renamed ${old_path} to ${new_path}`;
  },
};

/** Returns the edited lines with context, numbered. */
function snippet({ content, line }: Edited, newText: string): string {
  const lines = content.toString('utf8').split('\n');
  const first = Math.max(1, line - CONTEXT_LINES);
  const last = line + newText.split('\n').length - 1 + CONTEXT_LINES;
  return numberedLines(lines.slice(first - 1, last), first);
}
