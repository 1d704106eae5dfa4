import { ConfigError } from '../../config/config-error.ts';
import { printable } from '../../runtime/printable.ts';
import { type PastEntry, restoreEntry, treeAt } from '../../undo/index.ts';
import { formatSize } from '../../wire/format-size.ts';
import { CommandError } from '../terminal/command-error.ts';
import { Output } from '../terminal/output.ts';
import { operator } from './carry-out.ts';
import { type Consent, confirmed } from './consent.ts';
import { momentIn } from './moments.ts';
import { parsePath } from './root-argument.ts';
import { openTargets, type Target } from './targets.ts';

/** The options of `ringfence restore`. */
export interface RestoreFlags extends Consent {
  readonly config?: string;
  readonly at: string;
  readonly to?: string;
}

/** Puts an entry back as it was at a moment. Raises `ConfigError` and `CommandError`. */
export async function restore(written: string, flags: RestoreFlags): Promise<void> {
  const to = flags.to === undefined ? undefined : parsePath(flags.to);
  if (flags.to !== undefined && !to)
    throw new ConfigError(`--to: "${flags.to}" is no path in the root; give one from its top, without the root's name`);
  const output = new Output();
  using targets = await openTargets(written, flags.config);
  const [target] = targets.all as readonly [Target];
  const { path, history, name, durable } = target;
  if (path === undefined) {
    throw new ConfigError(
      `${written}: names no path in the root; give ROOT:PATH, or "ringfence undo --since ${flags.at} ${written}" for all of it`,
    );
  }
  const at = momentIn(target, flags.at);
  const past = treeAt(history, at).lookup(path);
  if (past === undefined) throw new CommandError(notThere(target, path, flags.at, targets.suffix));
  const place = to === undefined || to === path ? 'in place of what is there now' : `as ${printable(to)}`;
  output.line(`put back ${describePast(path, past)} as it was at ${printable(flags.at)}, ${place}`);
  if (!(await confirmed(flags, 'Restore it? What is replaced is kept in the history.'))) return;
  const caller = operator('restore');
  const { change } = await restoreEntry(history, history.root, { path, at, to, durable, caller });
  output.line(`restored; to reverse that: ringfence undo ${change} ${name}${targets.suffix}`);
  await output.flushed();
}

function describePast(path: string, { type, size }: PastEntry): string {
  if (type === 'directory') return `${printable(path)}/`;
  return type === 'file' ? `${printable(path)} (${formatSize(size, 'short')})` : printable(path);
}

function notThere({ name }: Target, path: string, at: string, suffix: string): string {
  const command = `ringfence history ${name}:${path}${suffix}`;
  return `there was no ${printable(path)} at ${printable(at)}; "${command}" lists when it changed`;
}
