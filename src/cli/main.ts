import { Command, CommanderError } from 'commander';
import { trace } from '../audit/call-event.ts';
import { ConfigError, packageVersion } from '../config/index.ts';
import { workspace } from '../dialects/workspace/index.ts';
import { ListenError } from './listen-error.ts';

const USAGE_ERROR = 2;
const FAILURE = 1;

/** Runs the command line to its end and returns the exit code. What goes wrong is one line on stderr. */
export async function main(argv: readonly string[]): Promise<number> {
  try {
    await commands().parseAsync(argv, { from: 'user' });
    return 0;
  } catch (error) {
    // Commander has printed its own message, or the help that was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE_ERROR;
    if (error instanceof ConfigError) return complain(error.message, USAGE_ERROR);
    if (error instanceof ListenError) return complain(error.message, FAILURE);
    return complain(`internal error: ${JSON.stringify(trace(error))}`, FAILURE);
  }
}

/** Each command loads what it needs when it runs: a client waits for the start. */
function commands(): Command {
  const program = new Command('ringfence')
    .description('A filesystem for AI agents, confined to the folders you name.')
    .version(packageVersion())
    .helpCommand(false)
    .exitOverride()
    .configureHelp({ showGlobalOptions: true });
  program
    .command('serve')
    .description('serve over HTTP, at /mcp')
    .argument('[dir...]', 'folders to serve, each a root named after it, all tools, from this machine only')
    .option('--config <file>', 'config with named roots and what may be done in each')
    .option('--port <number>', 'port to listen on, 0 for any free one (default: that of the config, or 8091)')
    .option('--host <address>', 'address to listen on (default: that of the config)')
    .action(async (dirs: string[], options: object) => {
      const { serve } = await import('./serve.ts');
      await serve(workspace, { dirs, ...options });
    });
  program
    .command('stdio')
    .description('serve the client at the other end of stdin and stdout')
    .argument('[dir...]', 'folders to serve, each a root named after it, all tools')
    .option('--config <file>', 'config with named roots and what may be done in each')
    .action(async (dirs: string[], options: object) => {
      const { stdio } = await import('./stdio.ts');
      await stdio(workspace, { dirs, ...options });
    });
  return program;
}

function complain(message: string, exitCode: number): number {
  process.stderr.write(`ringfence: ${message}\n`);
  return exitCode;
}
