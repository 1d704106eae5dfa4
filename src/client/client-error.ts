/** What can go wrong between a client and a server, as opposed to a tool that fails. */
export type ClientErrorKind =
  /** There is no server, it does not speak MCP, it refuses the token, or the connection was lost. */
  | 'unreachable'
  /** The server answered with an error of the protocol. */
  | 'refused'
  /** The request was cancelled by its signal. */
  | 'cancelled';

/** The error of a request to a server. The message is one line. */
export class ClientError extends Error {
  readonly kind: ClientErrorKind;

  constructor(kind: ClientErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ClientError';
    this.kind = kind;
  }
}
