import { ConfigError } from '../../config/config-error.ts';
import { CheckpointError } from '../../history/errors.ts';
import { addCheckpoint } from '../../history/index.ts';
import { localTime } from '../terminal/local-time.ts';
import { Output } from '../terminal/output.ts';
import { openTargets } from './targets.ts';

/** The options of `ringfence checkpoint`. */
export interface CheckpointFlags {
  readonly config?: string;
  readonly name?: string;
  readonly json?: boolean;
}

/** Adds a checkpoint to the history of a root, or of all, which may begin with it. Raises `ConfigError` and `CommandError`. */
export async function checkpoint(written: string | undefined, flags: CheckpointFlags): Promise<void> {
  const output = new Output();
  using targets = await openTargets(written, flags.config, { begin: true });
  if (targets.all.some(({ path }) => path !== undefined))
    throw new ConfigError(`${written}: a checkpoint is for a whole root; leave the path out`);
  const made: object[] = [];
  for (const { name: root, history } of targets.all) {
    const { name, time } = await add(history, flags.name);
    made.push({ root, name, time: new Date(time).toISOString() });
    if (!flags.json) output.line(`checkpoint ${name} of ${root} at ${localTime(time)}`);
  }
  if (flags.json) output.json(made);
  await output.flushed();
}

async function add(...args: Parameters<typeof addCheckpoint>) {
  try {
    return await addCheckpoint(...args);
  } catch (error) {
    if (!(error instanceof CheckpointError)) throw error;
    throw new ConfigError(
      `--name: "${args[1]}" cannot name a checkpoint; use up to 64 letters, digits, spaces and "._-", and nothing that looks like a time`,
    );
  }
}
