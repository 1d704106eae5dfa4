import { describeThrown } from '../../audit/describe-thrown.ts';
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
];
/** Leaves the first calls of the client undisturbed. */
const START_MS = 1_000;

/** Removes temporary files that killed processes left in writable roots, in the background after the start. Failures are only logged. */
export function sweepInBackground(service: SharedService): { stop(): void } {
  const { roots, logger } = service;
  const stopping = new AbortController();

  const sweepAll = async (): Promise<void> => {
    for (const { kind, root, allowed } of roots.all()) {
      if (stopping.signal.aborted) return;
      if (kind === 'agent') continue;
      if (!WRITING.some((capability) => allowed.has(capability))) continue;
      try {
        const { sweepLeftovers } = await import('../../files/sweep/sweep-leftovers.ts');
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
