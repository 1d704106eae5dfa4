import type { PastChange } from '../undo/index.ts';

/**
 * Leaves out changes that only took back others of the same list. To take back both would be to do the others again, and
 * then to take them back again; what was taken back already stays so.
 */
export function netChanges(changes: readonly PastChange[]): PastChange[] {
  const ids = new Set(changes.map(({ id }) => id));
  return changes.filter(({ undoes }) => undoes.length === 0 || !undoes.every((id) => ids.has(id)));
}
