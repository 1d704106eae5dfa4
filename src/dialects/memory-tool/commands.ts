import * as z from 'zod';

const path = z.string();
const viewRange = z.array(z.int()).length(2, 'view_range must be two line numbers, [first, last]');

/** The input schema of each command, as the API sends it. Unknown fields are ignored. */
export const COMMANDS = {
  view: z.object({ command: z.literal('view'), path, view_range: viewRange.nullish() }),
  create: z.object({ command: z.literal('create'), path, file_text: z.string() }),
  str_replace: z.object({ command: z.literal('str_replace'), path, old_str: z.string(), new_str: z.string() }),
  insert: z.object({ command: z.literal('insert'), path, insert_line: z.number(), insert_text: z.string() }),
  delete: z.object({ command: z.literal('delete'), path }),
  rename: z.object({ command: z.literal('rename'), old_path: path, new_path: path }),
} as const;

/** A command of the memory tool. */
export type CommandName = keyof typeof COMMANDS;

/** The parsed input of a command. */
export type CommandInput<N extends CommandName> = z.output<(typeof COMMANDS)[N]>;
