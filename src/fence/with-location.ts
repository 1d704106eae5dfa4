import type { CallerPath } from './caller-path.ts';
import { fromSystem } from './errno.ts';
import type { Root } from './root.ts';

type Raw = Pick<CallerPath, 'raw'>;

/** Runs work on a path, and adds that path and root to an error that does not say yet where it happened. */
export async function withLocation<T>(root: Root, path: Raw, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw fromSystem(error, path.raw, root.name);
  }
}

/** Runs synchronous work on a path, and adds that path and root to an error that does not say yet where it happened. */
export function withLocationSync<T>(root: Root, path: Raw, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw fromSystem(error, path.raw, root.name);
  }
}
