import { type Dir, isFenceError } from '../../fence/index.ts';
import { type OperationContext, yieldPoint } from '../../runtime/operation-context.ts';

/**
 * Flushes every file and folder of a tree to disk, except for the name of its top folder. Skips what this process may
 * not read. Raises what fsync(2) raises, and the reason of an aborted signal.
 */
export async function flushTree(top: Dir, context: OperationContext): Promise<void> {
  const pause = yieldPoint(context);

  async function flush(dir: Dir): Promise<void> {
    for (const { raw, type } of readable(() => dir.list()) ?? []) {
      await pause();
      if (type === 'directory') {
        using inner = readable(() => dir.openDir(raw));
        if (inner !== undefined) await flush(inner);
      } else if (type === 'file') {
        using file = readable(() => dir.openFile(raw));
        await file?.sync();
      }
    }
    await dir.sync();
  }

  await flush(top);
}

function readable<T>(open: () => T): T | undefined {
  try {
    return open();
  } catch (error) {
    if (!isFenceError(error, 'permission_denied')) throw error;
    return undefined;
  }
}
