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
}
