import { type CallerPath, isFenceError, type Location, type Root } from '../fence/index.ts';

/**
 * Locates an entry, following links. Returns undefined if its folder does not exist; an entry that is missing from its
 * folder has a location without `stats`. Raises what `locate` raises for anything else.
 */
export function locateIfPresent(root: Root, path: CallerPath): Location | undefined {
  try {
    return root.locate(path, { follow: true });
  } catch (error) {
    if (isFenceError(error, 'not_found')) return undefined;
    throw error;
  }
}
