import { describeThrown } from '../../audit/describe-thrown.ts';
import { importWhenLoadable } from '../../config/program/loadable-modules.ts';
import { isAppendJournalName } from '../../fence/index.ts';
import type { Capability } from '../../tools/capabilities.ts';
import type { NamedLocalRoot } from '../../tools/roots.ts';
import type { SharedService } from '../call/service.ts';

/** Capabilities whose tools leave temporary files behind when the process is killed. */
const WRITING: readonly Capability[] = [
  'write_file',
  'patch_file',
  'edit_file',
  'create_folder',
  'copy',
  'move',
  'remove_folder',
  'undo_change',
];
/** Leaves the first calls of the client undisturbed. */
const START_MS = 1_000;

/**
 * Undoes what killed processes left of appends in writable roots. No call may run before that: it would see half of
 * what was to be appended, or add to it. Failures are only logged.
 */
export async function undoTornAppends({ logger }: Logging, roots: readonly NamedLocalRoot[]): Promise<void> {
  for (const { root } of roots.filter(isWritable)) {
    try {
      if (!root.top.list(true).some(({ name }) => isAppendJournalName(name))) continue;
      const { undoAppends } = await importWhenLoadable(() => import('../../files/write/append-journal.ts'));
      const undone = await undoAppends(root);
      if (undone > 0) logger.warn({ root: root.name, undone }, 'appends of a killed process undone');
    } catch (error) {
      logger.warn({ root: root.name, error: describeThrown(error) }, 'appends of a killed process cannot be undone');
    }
  }
}

/** A root, and what ends the work on it. */
export interface SweptRoot {
  readonly named: NamedLocalRoot;
  readonly signal: AbortSignal;
}

/**
 * Removes temporary files that killed processes left in writable roots, one root after another, in the background after
 * a while. Failures are only logged.
 */
export function sweepInBackground({ logger }: Logging, roots: readonly SweptRoot[]): void {
  const sweepAll = async (): Promise<void> => {
    for (const { named, signal } of roots) {
      if (signal.aborted || !isWritable(named)) continue;
      const { root } = named;
      try {
        const { sweepLeftovers } = await importWhenLoadable(() => import('../../files/sweep/sweep-leftovers.ts'));
        const removed = await sweepLeftovers(root, signal);
        if (removed > 0) logger.info({ root: root.name, removed }, 'leftover temporary files removed');
      } catch (error) {
        if (!signal.aborted) logger.warn({ root: root.name, error: describeThrown(error) }, 'sweep failed');
      }
    }
  };
  setTimeout(() => void sweepAll(), START_MS).unref();
}

type Logging = Pick<SharedService, 'logger'>;

function isWritable({ root, allowed }: NamedLocalRoot): boolean {
  return !root.isReadOnly && WRITING.some((capability) => allowed.has(capability));
}
