import { describeThrown } from '../audit/call-event.ts';
import { ConfigError } from '../config/config-error.ts';
import { runCommand } from './commands.ts';
import { ListenError } from './listen-error.ts';

const USAGE_ERROR = 2;
const FAILURE = 1;

/** Runs the command line to its end and returns the exit code. What goes wrong is one line on stderr. */
export async function main(argv: readonly string[]): Promise<number> {
  try {
    return (await runCommand(argv)) ? 0 : USAGE_ERROR;
  } catch (error) {
    if (error instanceof ConfigError) return complain(error.message, USAGE_ERROR);
    if (error instanceof ListenError) return complain(error.message, FAILURE);
    return complain(`internal error: ${JSON.stringify(describeThrown(error))}`, FAILURE);
  }
}

function complain(message: string, exitCode: number): number {
  process.stderr.write(`ringfence: ${message}\n`);
  return exitCode;
}
