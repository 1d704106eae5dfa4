import { type CallerPath, fromSystem, type Root } from '../fence/index.ts';

/** Runs work on a path so that whatever fails in it says which path and root it was about. */
export async function located<T>(root: Root, path: CallerPath, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw fromSystem(error, path.raw, root.name);
  }
}
