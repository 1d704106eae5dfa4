import type { Command } from 'commander';
import type { LoadDialect } from './access.ts';
import type { CheckFlags } from './check.ts';

/** Adds the command that shows what a config allows. It loads its modules, and dialects with `load`, only when it runs. */
export function addCheckCommands(program: Command, load: () => Promise<LoadDialect>): void {
  program
    .command('check')
    .summary('show what a config allows')
    .description(
      'Show what each root and token may do in each dialect, and what may not be intended; or, for one path of this machine, which rule decides about reading and changing it. Nothing is started or changed.',
    )
    .argument('[PATH]', 'a file or folder of this machine to explain')
    .option('--config <file>', 'the config (default: ringfence.yaml, or the current folder)')
    .option(
      '--root <dir>',
      'a folder instead of a config, as for serve; give it again for more',
      (dir: string, all: string[] = []) => [...all, dir],
    )
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Examples:
  ringfence check
  ringfence check ~/project/.env --config ringfence.yaml

Exit codes: 0 the config is valid, also with warnings; 2 it is not, or a mistake in the command.`,
    )
    .action(async (path: string | undefined, flags: CheckFlags) => {
      const { check } = await import('./check.ts');
      await check(path, flags, await load());
    });
}
