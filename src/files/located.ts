import { type CallerPath, fromSystem, type Root } from '../fence/index.ts';

type Raw = Pick<CallerPath, 'raw'>;

/** Runs work on a path so that whatever fails in it says which path and root it was about. */
export async function withLocation<T>(root: Root, path: Raw, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw fromSystem(error, path.raw, root.name);
  }
}

/** The same for work that is done at once. */
export function withLocationSync<T>(root: Root, path: Raw, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw fromSystem(error, path.raw, root.name);
  }
}
