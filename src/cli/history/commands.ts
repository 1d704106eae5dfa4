import type { Command } from 'commander';
import type { CheckpointFlags } from './checkpoint.ts';
import type { DiffFlags } from './diff.ts';
import type { HistoryFlags } from './history.ts';
import type { RestoreFlags } from './restore.ts';
import type { ReviewFlags } from './review.ts';
import type { UndoFlags } from './undo.ts';

const ROOT = 'the name of a root in the config, or a folder';
const ROOT_PATH = `${ROOT}, and what to look at in it (default: all roots of the config, or the current folder)`;
const CONFIG = ['--config <file>', 'the config of the server, for the names of roots'] as const;
const SINCE = 'a time (2026-01-31T15:00), a duration (15m, 2h, 1d), the name of a checkpoint, or the id of a change';
const YES = ['--yes', 'do not ask'] as const;
const JSON_OUTPUT = ['--json', 'print JSON'] as const;
const EXIT_CODES = `
Exit codes: 0 done, or nothing to do; 1 refused: conflicts, nobody agreed, or not found; 2 a mistake in the command.`;

/** Adds the commands about what was changed. Each loads its modules only when it runs. */
export function addHistoryCommands(program: Command): void {
  program
    .command('history')
    .summary('list what was changed, and by whom')
    .description('List what was changed, newest first: when, by which client and tool, and the id of the change.')
    .argument('[ROOT[:PATH]]', ROOT_PATH)
    .option('--since <T>', `only changes since ${SINCE}`)
    .option('--client <C>', 'only changes of this client')
    .option('--limit <N>', 'no more changes than this (default: 100, unless --since or --json is given)')
    .option('--stats', 'how much is kept, and since when')
    .option(...JSON_OUTPUT)
    .option(...CONFIG)
    .addHelpText('after', example('ringfence history notes:todo.md --since 2h --config ringfence.yaml'))
    .action(async (root: string | undefined, flags: HistoryFlags) => {
      const { history } = await import('./history.ts');
      await history(root, flags);
    });
  program
    .command('diff')
    .summary('show what changes did')
    .description(
      'Show what changes did, as one unified diff, deletions first. Binary files are named with their sizes.',
    )
    .argument('[ID|ROOT[:PATH]...]', 'ids of changes, then the root')
    .option('--since <T>', `everything since ${SINCE}`)
    .option(...JSON_OUTPUT)
    .option(...CONFIG)
    .addHelpText('after', example('ringfence diff --since 15m ~/project:src'))
    .action(async (words: string[], flags: DiffFlags) => {
      const { diff } = await import('./diff.ts');
      await diff(words, flags);
    });
  program
    .command('undo')
    .summary('take changes back')
    .description(
      'Take changes back. Shows what it will do and asks. A conflict with newer work is named, and one refuses all of it. An undo is itself a change that can be undone.',
    )
    .argument('[ID|ROOT[:PATH]...]', 'ids of changes, then the root, and what of it to take back')
    .option('--since <T>', `everything since ${SINCE}`)
    .option('--call <C>', 'what one call did, by its id in the log')
    .option('--client <C>', 'what this client did')
    .option('--dry-run', 'only show what would be done')
    .option('--force', 'replace newer work, which is kept in the history, and leave out what cannot be taken back')
    .option(...YES)
    .option(...CONFIG)
    .addHelpText('after', example('ringfence undo --since 4h ~/project'))
    .action(async (words: string[], flags: UndoFlags) => {
      const { undo } = await import('./undo.ts');
      await undo(words, flags);
    });
  program
    .command('restore')
    .summary('put a file or folder back as it was')
    .description('Put a file, link or folder back as it was at a moment. What is replaced is kept in the history.')
    .argument('<ROOT:PATH>', `${ROOT}, and the path in it`)
    .requiredOption('--at <T>', `when: ${SINCE}, for which it is the moment before the change`)
    .option('--to <PATH>', 'put it at this path of the same root instead')
    .option('--dry-run', 'only show what would be done')
    .option(...YES)
    .option(...CONFIG)
    .addHelpText('after', example('ringfence restore ~/project:src/main.ts --at 2h --to main-before.ts'))
    .action(async (root: string, flags: RestoreFlags) => {
      const { restore } = await import('./restore.ts');
      await restore(root, flags);
    });
  program
    .command('checkpoint')
    .summary('give this moment a name')
    .description('Give this moment a name, for review, and for --since and --at.')
    .argument('[ROOT]', `${ROOT} (default: all roots of the config, or the current folder)`)
    .option('--name <NAME>', 'the name (default: a number)')
    .option(...JSON_OUTPUT)
    .option(...CONFIG)
    .addHelpText('after', example('ringfence checkpoint ~/project --name "before lunch"'))
    .action(async (root: string | undefined, flags: CheckpointFlags) => {
      const { checkpoint } = await import('./checkpoint.ts');
      await checkpoint(root, flags);
    });
  program
    .command('review')
    .summary('accept or take back what was changed since the last checkpoint')
    .description(
      'Show everything since the last checkpoint as one diff, deletions first, to accept it or take it back: all, by file or by hunk. On a terminal it asks about each file.',
    )
    .argument('[ROOT[:PATH]]', ROOT_PATH)
    .option('--accept', 'accept it: a new checkpoint, or for a path, a note that it was reviewed')
    .option('--take-back', 'take it back')
    .option('--hunk <N...>', 'only these hunks of the file at ROOT:PATH')
    .option('--force', 'replace newer work, which is kept in the history')
    .option('--dry-run', 'only show what would be done')
    .option(...YES)
    .option(...JSON_OUTPUT)
    .option(...CONFIG)
    .addHelpText('after', example('ringfence review ~/project:src/main.ts --take-back --hunk 2'))
    .action(async (root: string | undefined, flags: ReviewFlags) => {
      const { review } = await import('./review.ts');
      await review(root, flags);
    });
}

function example(command: string): string {
  return `\nExample:\n  ${command}\n${EXIT_CODES}`;
}
