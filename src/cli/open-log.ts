import { type FormatLine, type Log, openLog } from '../audit/log.ts';
import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';

/** Options of `openLogOf`. */
export interface LogOptions {
  /** How lines on stderr are written; as JSON by default. */
  readonly formatLine?: FormatLine | undefined;
  /** The number of this process, if it is one of several: it is in each line. */
  readonly worker?: number | undefined;
}

/** Opens the log where the config says. Raises `ConfigError`. */
export async function openLogOf(config: Config, { formatLine, worker }: LogOptions): Promise<Log> {
  const { file, logLevel: level, logFile } = config;
  const fields = worker === undefined ? null : { worker };
  if (logFile === undefined) return openLog(level, formatLine, fields);
  const { openLogFile } = await import('../audit/log-file.ts');
  const warn = (problem: string): void => void process.stderr.write(`ringfence: log_file: ${problem}\n`);
  try {
    return openLogFile(logFile, { level, warn, fields });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigError(`${file}: log_file: ${logFile} cannot be opened: ${code ?? 'unknown error'}`);
  }
}
