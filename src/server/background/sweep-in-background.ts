import { describeThrown } from '../../audit/describe-thrown.ts';
import { importWhenLoadable } from '../../config/loadable-modules.ts';
import { isAppendJournalName, type Root } from '../../fence/index.ts';
import type { Capability } from '../../tools/capabilities.ts';
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
export async function undoTornAppends(service: SharedService): Promise<void> {
  const { logger } = service;
  for (const root of writableRoots(service)) {
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

/**
 * Removes temporary files that killed processes left in writable roots, in the background after the start. Failures are
 * only logged.
 */
export function sweepInBackground(service: SharedService): { stop(): void } {
  const { logger } = service;
  const stopping = new AbortController();

  const sweepAll = async (): Promise<void> => {
    for (const root of writableRoots(service)) {
      if (stopping.signal.aborted) return;
      try {
        const { sweepLeftovers } = await importWhenLoadable(() => import('../../files/sweep/sweep-leftovers.ts'));
        const removed = await sweepLeftovers(root, stopping.signal);
        if (removed > 0) logger.info({ root: root.name, removed }, 'leftover temporary files removed');
      } catch (error) {
        if (!stopping.signal.aborted) logger.warn({ root: root.name, error: describeThrown(error) }, 'sweep failed');
      }
    }
  };

  const timer = setTimeout(() => void sweepAll(), START_MS).unref();
  return {
    stop: () => {
      clearTimeout(timer);
      stopping.abort();
    },
  };
}

function writableRoots({ roots }: SharedService): Root[] {
  return roots.all().flatMap((named) => {
    if (named.kind === 'agent' || named.root.isReadOnly) return [];
    return WRITING.some((capability) => named.allowed.has(capability)) ? [named.root] : [];
  });
}
