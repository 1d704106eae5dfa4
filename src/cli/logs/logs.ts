import { once } from 'node:events';
import { readLogLines, streamLines } from '../../audit/log-lines.ts';
import { ConfigError } from '../../config/config-error.ts';
import { printable } from '../../runtime/printable.ts';
import { CommandError } from '../terminal/command-error.ts';
import { isCall, isFailure, type LogFields, lineFormatFor, parseLogLine } from '../terminal/log-line.ts';
import { Output } from '../terminal/output.ts';
import { LogSummary } from './summary.ts';

/** The options of `ringfence logs`. */
export interface LogsFlags {
  readonly follow?: boolean;
  readonly tool?: string;
  readonly client?: string;
  readonly errors?: boolean;
  readonly summary?: boolean;
  readonly json?: boolean;
}

/** Shows a log to people, line by line or as a summary. Raises `ConfigError` and `CommandError`. */
export async function logs(file: string | undefined, flags: LogsFlags): Promise<void> {
  if (file === undefined && process.stdin.isTTY) {
    throw new ConfigError('which log? give its FILE, or pipe it in: ringfence logs ringfence.log');
  }
  if (flags.json && !flags.summary) throw new ConfigError('--json is for --summary: the log itself is JSON already');
  if (flags.follow && flags.summary) throw new ConfigError('give either --follow or --summary: a summary needs an end');
  const output = new Output();
  const summary = flags.summary ? new LogSummary() : undefined;
  const format = lineFormatFor(process.stdout);
  for await (const line of linesOf(file, flags)) {
    const fields = parseLogLine(line);
    if (!isWanted(fields, flags)) continue;
    if (summary === undefined) await print(`${format(line)}\n`);
    else if (fields !== undefined && isCall(fields)) summary.add(fields);
  }
  if (flags.json) output.json(summary?.json());
  else summary?.show(output);
  await output.flushed();
}

/** Waits for a slow reader, so that a large log does not pile up in memory. */
async function print(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain');
}

function isWanted(fields: LogFields | undefined, { tool, client, errors }: LogsFlags): boolean {
  if (tool === undefined && client === undefined && !errors) return true;
  if (fields === undefined) return false;
  const fits = (wanted: string | undefined, value: unknown): boolean => wanted === undefined || wanted === value;
  return fits(tool, fields.tool) && fits(client, fields.client) && (!errors || isFailure(fields));
}

async function* linesOf(file: string | undefined, { follow }: LogsFlags): AsyncGenerator<string> {
  if (file === undefined || file === '-') {
    yield* streamLines(process.stdin);
    return;
  }
  try {
    yield* readLogLines(file, { follow });
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === undefined) throw error;
    const why = code === 'ENOENT' ? 'there is no such file' : code === 'EISDIR' ? 'it is a folder' : code;
    throw new CommandError(`cannot read the log ${printable(file)}: ${why}`);
  }
}
