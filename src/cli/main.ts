import { Command, CommanderError } from 'commander';
import { describeThrown } from '../audit/describe-thrown.ts';
import { ConfigError } from '../config/config-error.ts';
import type { ClassicFlags } from '../config/folders/classic-config.ts';
import type { GuideFlags } from '../config/folders/guide-config.ts';
import { packageVersion } from '../config/program/package-files.ts';
import { RingfenceError } from '../errors.ts';
import { printable } from '../runtime/printable.ts';
import { ListenError } from './listen-error.ts';
import { CommandError } from './terminal/command-error.ts';

const HISTORY = ['--history', 'keep what is changed or removed for 7 days, up to 1 GB a folder'] as const;
const EXIT_USAGE_ERROR = 2;
const EXIT_FAILURE = 1;

interface HistoryFlag {
  readonly history?: boolean;
}

/** Runs a command line until its command ends, and returns the exit code. Prints any error as one line on stderr. */
export async function main(argv: readonly string[]): Promise<number> {
  try {
    return (await runCommand(argv)) ? Number(process.exitCode ?? 0) : EXIT_USAGE_ERROR;
  } catch (error) {
    if (error instanceof ConfigError) return printError(error.message, EXIT_USAGE_ERROR);
    if (error instanceof CommandError) return printError(error.message, error.exitCode);
    if (error instanceof ListenError) return printError(error.message, EXIT_FAILURE);
    if (error instanceof RingfenceError) return printError(refusal(error), EXIT_FAILURE);
    return printError(`internal error: ${JSON.stringify(describeThrown(error))}`, EXIT_FAILURE);
  }
}

function refusal({ code, path }: RingfenceError): string {
  return `${path === undefined ? '' : `${printable(path)}: `}${code.replaceAll('_', ' ')}`;
}

function printError(message: string, exitCode: number): number {
  process.stderr.write(`ringfence: ${message}\n`);
  return exitCode;
}

/** Runs the command of a command line, and reports whether that is valid. If not, commander has printed the problem. */
async function runCommand(argv: readonly string[]): Promise<boolean> {
  try {
    const program = commands();
    // A client that waits for a server does not wait for these.
    if (!isServing(program, argv)) {
      (await import('./history/commands.ts')).addHistoryCommands(program);
      (await import('./install/commands.ts')).addSetupCommands(program);
      (await import('./logs/commands.ts')).addLogsCommands(program);
      (await import('./call/commands.ts')).addCallCommands(program, localServer);
      (await import('./check/commands.ts')).addCheckCommands(program, dialects);
      (await import('./doctor/commands.ts')).addDoctorCommands(program);
    }
    await program.parseAsync(argv, { from: 'user' });
    return true;
  } catch (error) {
    // Commander throws after it has printed an error, the help or the version. The exit code is 0 for the last two.
    if (error instanceof CommanderError) return error.exitCode === 0;
    throw error;
  }
}

/** Loads what serves a call of this process. */
async function localServer() {
  return (await import('./local-server.ts')).startLocalServer;
}

async function dialects() {
  return (await import('./load-dialect.ts')).loadDialect;
}

function isServing(program: Command, [name]: readonly string[]): boolean {
  return program.commands.some((command) => command.name() === name);
}

/** Defines the commands that serve. Each loads its modules only when it runs, because the client waits for the start. */
function commands(): Command {
  const program = new Command('ringfence')
    .description('A filesystem for AI agents, confined to the folders you name.')
    .version(packageVersion())
    .helpCommand(false)
    .exitOverride()
    .configureHelp({ showGlobalOptions: true });
  program
    .command('serve')
    .description('serve over HTTP, at /mcp and where the config says')
    .argument('[dir...]', 'folders to serve, each a root named after it, all tools, from this machine only')
    .option('--config <file>', 'config with named roots and what may be done in each')
    .option('--port <number>', 'port to listen on, 0 for any free one (default: that of the config, or 8091)')
    .option('--host <address>', 'address to listen on (default: that of the config)')
    .option('--log-format <format>', 'json, or pretty for people (default: pretty on a terminal, else json)')
    .option('--processes <number>', 'processes that share the port, or auto for one per core (default: this one alone)')
    .option(...HISTORY)
    .addHelpText('after', '\nExample:\n  ringfence serve ~/project --port 8091')
    .action(async (dirs: string[], { processes, ...options }: { readonly processes?: string }) => {
      if (processes !== undefined) {
        const { serveByProcesses } = await import('./serve-processes.ts');
        return serveByProcesses({ dirs, ...options }, processes);
      }
      const { serve } = await import('./serve.ts');
      return serve({ dirs, ...options });
    });
  program
    .command('stdio')
    .description('serve the client at the other end of stdin and stdout')
    .argument('[dir...]', 'folders to serve, each a root named after it, all tools')
    .option('--config <file>', 'config with named roots and what may be done in each')
    .option(...HISTORY)
    .addHelpText('after', '\nExample:\n  ringfence stdio ~/project')
    .action(async (dirs: string[], options: object) => {
      const { workspaceStdio } = await import('./stdio.ts');
      await workspaceStdio({ dirs, ...options });
    });
  program
    .command('memory')
    .description('serve the six memory tools on the folder named by BASE_PATH, over stdin and stdout')
    .option(...HISTORY)
    .addHelpText('after', '\nExample:\n  BASE_PATH=~/notes ringfence memory')
    .action(async ({ history }: HistoryFlag) => {
      const { boundStdio } = await import('./stdio.ts');
      const { memoryConfig } = await import('../config/folders/memory-config.ts');
      await boundStdio(memoryConfig(), history);
    });
  program
    .command('classic')
    .description('serve the nine classic tools on one folder, over stdin and stdout')
    .option('--root-dir <path>', 'the folder (default: FS_SERVER_ROOT, or the current one)')
    .option('--max-file-size <bytes>', 'the most that is returned of a file (default: FS_MAX_FILE_SIZE, or 10485760)')
    .option('--request-timeout <seconds>', 'time for one call (default: FS_REQUEST_TIMEOUT, or 30)')
    .option('--log-level <level>', 'error, warn, info, debug or trace (default: FS_LOG_LEVEL, or info)')
    .option(...HISTORY)
    .addHelpText('after', '\nExample:\n  ringfence classic --root-dir ~/project')
    .action(async ({ history, ...flags }: ClassicFlags & HistoryFlag) => {
      const { boundStdio } = await import('./stdio.ts');
      const { classicConfig } = await import('../config/folders/classic-config.ts');
      await boundStdio(classicConfig(flags), history);
    });
  program
    .command('guide')
    .description("serve the three guide tools, which take in files of the client's side, over stdin and stdout")
    .option('--project <dir>', 'the folder of the project that the files belong to (default: the current one)')
    .option('--allow <path...>', 'what of it may be handed over (default: docs/ src/ tests/ .guide/ .todo/)')
    .option('--log-level <level>', 'error, warn, info, debug or trace (default: info)')
    .addHelpText('after', '\nExample:\n  ringfence guide --project ~/project --allow docs/')
    .action(async (flags: GuideFlags) => {
      const { boundStdio } = await import('./stdio.ts');
      const { guideConfig } = await import('../config/folders/guide-config.ts');
      await boundStdio(guideConfig(flags));
    });
  return program;
}
