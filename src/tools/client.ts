/** Whose changes a client may list and undo: its own, or those of everybody. */
export const UNDO_SCOPES = ['own', 'all'] as const;
export type UndoScope = (typeof UNDO_SCOPES)[number];

/**
 * Who makes a call: an authenticated principal, else a session, else the process at the other end of stdio. A client
 * that cannot be identified is anonymous.
 */
export interface Client {
  /** Identifies the client in partitions, counters and limits. An anonymous client gets a new key with every call. */
  readonly key: string;
  readonly kind: 'principal' | 'session' | 'process' | 'anonymous';
  /** The name of the token or session, for the log. Never a secret. */
  readonly name: string | undefined;
  /** Whose changes it may list and undo; by default its own. */
  readonly undo?: UndoScope | undefined;
}
