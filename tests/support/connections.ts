type TransportName = 'http' | 'stdio';

/** A generation of the protocol: `legacy` begins with the `initialize` handshake, `modern` is 2026-07-28. */
export type Era = 'legacy' | 'modern';

export interface Connection {
  readonly transport: TransportName;
  readonly era: Era;
}

export const ERAS: readonly Era[] = ['legacy', 'modern'];

/** Both transports in both eras. */
export const CONNECTIONS: readonly Connection[] = [
  { transport: 'http', era: 'legacy' },
  { transport: 'stdio', era: 'legacy' },
  { transport: 'http', era: 'modern' },
  { transport: 'stdio', era: 'modern' },
];

/** Both transports in the era that most clients in use speak. */
export const TRANSPORTS: readonly Connection[] = CONNECTIONS.filter(({ era }) => era === 'legacy');

/** Each transport once and each era once, for behaviour that depends on no combination of them. */
export const TWO_CONNECTIONS: readonly Connection[] = CONNECTIONS.filter(
  ({ transport, era }) => (transport === 'http') === (era === 'modern'),
);
