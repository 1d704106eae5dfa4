/**
 * Who makes a call. The key is what partitions, counters and limits go by: that of a principal if there is one, else of
 * its session, else of the process at the other end of stdio. What nothing tells apart from others is anonymous, and has
 * a new key with each call.
 */
export interface Client {
  readonly key: string;
  readonly kind: 'principal' | 'session' | 'process' | 'anonymous';
  /** For the log: the name of a token or of a session, never what opens either. */
  readonly name: string | undefined;
}
