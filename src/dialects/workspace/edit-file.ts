import * as z from 'zod';
import { replaceTexts } from '../../files/edit/edit-file.ts';
import { ToolError } from '../../tools/errors.ts';
import { defineTool } from '../../tools/tool.ts';
import { fileDiff, hunksOf } from './file-diff.ts';
import { dryRun, filePath, ifMatch, rootName, SUBJECT, version } from './shared-schemas.ts';
import { targetOf } from './target.ts';

const replacement = {
  old_text: z.string(),
  new_text: z.string(),
  replace_all: z.boolean().default(false),
};

const input = z.strictObject({
  root: rootName,
  path: filePath,
  old_text: z.string().optional().describe('Must occur once'),
  new_text: z.string().optional().describe('"" deletes'),
  replace_all: z.boolean().default(false).describe('Every occurrence'),
  edits: z.array(z.strictObject(replacement)).optional().describe('In place of old_text: in order, all or none'),
  if_match: ifMatch,
  dry_run: dryRun,
});
type Input = z.output<typeof input>;

export const editFile = defineTool({
  name: 'edit_file',
  description:
    'Replace text in a file: the first choice for changes. old_text must match exactly (line endings aside), without line numbers. diff is cut after 200 lines.',
  needs: ['edit_file'],
  effect: 'change',
  subject: SUBJECT,
  input,
  output: z.object({
    path: z.string(),
    replacements: z.int(),
    lines: z.array(z.int()).describe('Of the first 1000'),
    diff: z.string(),
    version,
    dry_run: z.boolean(),
  }),
  changes: (args, context) => (args.dry_run ? [] : [{ ...targetOf(args, context), kind: 'edit', only: 'file' }]),
  run: async (args, context) => {
    const { path, if_match, dry_run } = args;
    const target = targetOf(args, context);
    const { durable, signal, caller } = context;
    const options = { durable, signal, caller, ifMatch: if_match ?? context.agreedVersion?.(target), dryRun: dry_run };
    const edited = await replaceTexts(target.root, target.path, replacementsOf(args), options);
    const { replacements, lines, diff, version } = edited;
    return { path, replacements, lines: [...lines], diff: fileDiff(path, diff), version, dry_run };
  },
  readerText: ({ path, replacements, lines, diff, version, dry_run }) => {
    const count = `${replacements} ${replacements === 1 ? 'replacement' : 'replacements'}`;
    const at = `${lines.length === 1 ? 'line' : 'lines'} ${lines.slice(0, 20).join(', ')}${lines.length > 20 ? ', ...' : ''}`;
    return `${dry_run ? 'dry run, nothing changed: ' : 'edited '}${path}: ${count} at ${at}, version ${version}\n${hunksOf(diff)}`.trimEnd();
  },
});

/** Returns the replacements that a call asks for. Raises `invalid_argument` for those that make no sense. */
function replacementsOf({ path, old_text, new_text, replace_all, edits }: Input) {
  const refuse = (argument: string, problem: string): never => {
    throw new ToolError('invalid_argument', { problem: `${problem}: ${path}`, argument }, { path });
  };
  const single = old_text !== undefined || new_text !== undefined;
  if (edits !== undefined && single) return refuse('edits', 'give either old_text and new_text, or edits, not both');
  if (edits?.length === 0) return refuse('edits', 'edits is empty: give at least one { old_text, new_text }');
  if (edits === undefined && (old_text === undefined || new_text === undefined)) {
    const missing = old_text === undefined ? 'old_text' : 'new_text';
    return refuse(missing, `missing parameter: ${missing}; give old_text and new_text ("" to delete), or edits`);
  }
  const all = edits ?? [{ old_text: old_text ?? '', new_text: new_text ?? '', replace_all }];
  return all.map((edit, index) => {
    const name = (field: string): string => (edits === undefined ? field : `edits.${index}.${field}`);
    const [oldText, newText] = [edit.old_text, edit.new_text];
    if (oldText === '') {
      const instead =
        'to insert, give a line next to the place and repeat it in new_text; to write a whole file, use write_file';
      return refuse(name('old_text'), `${name('old_text')} is empty; ${instead}`);
    }
    if (oldText === newText) {
      return refuse(name('new_text'), `${name('old_text')} and ${name('new_text')} are the same: nothing to change`);
    }
    if (oldText.replaceAll('\r\n', '\n') === newText.replaceAll('\r\n', '\n')) {
      const problem = `${name('old_text')} and ${name('new_text')} differ only in line endings, which are kept`;
      return refuse(name('new_text'), `${problem}; to change them use write_file`);
    }
    // The switch beside edits stands for all of them.
    return { oldText, newText, replaceAll: edit.replace_all || replace_all };
  });
}
