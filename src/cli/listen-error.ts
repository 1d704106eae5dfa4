/**
 * The error for an address that the server cannot listen on. The message is one line that names the flag or key to
 * change.
 */
export class ListenError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ListenError';
  }
}
