import { appendRecords, readRecords } from './record-file.ts';
import type { HistoryStore } from './store.ts';

/** Says that somebody has looked at what happened to a path, and wants it to stay. */
export interface Acceptance {
  /** From the top of the root. What is below it is accepted, too. */
  readonly path: string;
  /** What happened until then, in milliseconds since 1970. */
  readonly time: number;
  /** The hash of the hunk that is accepted; without it, all that happened to the path. */
  readonly hunk?: string | undefined;
}

const FILE = 'accepted';

/** Notes that something is accepted. A later checkpoint makes that obsolete. */
export async function addAcceptances(history: HistoryStore, accepted: readonly Acceptance[]): Promise<void> {
  await appendRecords(history, FILE, accepted);
}

/** Returns what was accepted, oldest first. */
export function acceptances(history: HistoryStore): Acceptance[] {
  return readRecords(history, FILE, isAcceptance);
}

function isAcceptance(value: unknown): value is Acceptance {
  if (typeof value !== 'object' || value === null) return false;
  const { path, time, hunk } = value as Record<string, unknown>;
  return typeof path === 'string' && Number.isFinite(time) && (hunk === undefined || typeof hunk === 'string');
}
