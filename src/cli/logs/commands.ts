import type { Command } from 'commander';
import type { LogsFlags } from './logs.ts';

/** Adds the command that reads logs. It loads its modules only when it runs. */
export function addLogsCommands(program: Command): void {
  program
    .command('logs')
    .summary('read the JSON log of a server as a person')
    .description(
      'Read the JSON log of a server: one line a call, with time, client, tool, outcome, duration, size, and root:path.',
    )
    .argument('[FILE]', 'the log; - or nothing for stdin')
    .option('--follow', 'wait for more, also after the file was cut or rotated')
    .option('--tool <T>', 'only lines about this tool')
    .option('--client <C>', 'only lines about this client')
    .option('--errors', 'only what failed, and warnings')
    .option('--summary', 'calls, errors, latency and bytes by tool and by client, and the most frequent errors')
    .option('--json', 'print the summary as JSON')
    .addHelpText(
      'after',
      `
Examples:
  ringfence logs ringfence.log --follow --errors
  docker logs ringfence 2>&1 | ringfence logs --summary

Exit codes: 0 done; 1 the log cannot be read; 2 a mistake in the command.`,
    )
    .action(async (file: string | undefined, flags: LogsFlags) => {
      const { logs } = await import('./logs.ts');
      await logs(file, flags);
    });
}
