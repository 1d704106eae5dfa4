import { type Command, InvalidArgumentError } from 'commander';
import { didYouMean } from '../../tools/nearest.ts';
import { Output } from '../terminal/output.ts';
import { CLIENTS } from './clients.ts';
import { completionScript, SHELLS } from './completion.ts';
import type { InstallFlags } from './install.ts';

const EXIT_CODES = 'Exit codes: 0 done, or nothing to do; 1 refused, nothing was changed; 2 a mistake in the command.';

/** Adds the commands that set Ringfence up: init, install and completion. */
export function addSetupCommands(program: Command): void {
  program
    .command('init')
    .summary('write a config for a folder')
    .description(
      'Write ringfence.yaml into a folder, with the folder as a root, and say how to connect the clients found.',
    )
    .argument('[dir]', 'the folder (default: the current one)')
    .addHelpText('after', `\nExample:\n  ringfence init ~/project\n\n${EXIT_CODES}`)
    .action(async (dir: string | undefined) => {
      const { init } = await import('./init.ts');
      await init(dir);
    });
  const clients = CLIENTS.map(({ id }) => id);
  const client = program.createArgument('<client>', `one of ${clients.join(', ')}`).choices(clients);
  program
    .command('install')
    .summary('connect a client')
    .description("Write an entry for this server into a client's own config. Everything else in it stays as it is.")
    .addArgument(client.argParser((value: string) => oneOf(clients, value)))
    .option('--root <dir...>', 'the folders to serve (default: the current one)')
    .option('--config <file>', 'a config to serve instead')
    .option('--print', 'only show what would be changed, as a diff')
    .option('--uninstall', 'take it back')
    .addHelpText(
      'after',
      `\nExamples:\n  ringfence install claude-code --root ~/project\n  ringfence install codex --config ringfence.yaml --print\n\n${EXIT_CODES}`,
    )
    .action(async (id: string, flags: InstallFlags) => {
      const { install } = await import('./install.ts');
      await install(id, flags);
    });
  const shell = program.createArgument('<shell>', `one of ${SHELLS.join(', ')}`).choices(SHELLS);
  program
    .command('completion')
    .summary('print a completion script for a shell')
    .description('Print a script that lets a shell complete commands and options.')
    .addArgument(shell.argParser((value: string) => oneOf(SHELLS, value)))
    .addHelpText('after', '\nExample:\n  source <(ringfence completion bash)')
    .action((name: string) => new Output().bytes(Buffer.from(completionScript(program, name))));
}

function oneOf(known: readonly string[], value: string): string {
  if (known.includes(value)) return value;
  throw new InvalidArgumentError(`Use one of ${known.join(', ')}.${didYouMean(value, known)}`);
}
