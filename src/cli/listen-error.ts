/** The reason why a server cannot listen where it was told to. The message is one line. */
export class ListenError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ListenError';
  }
}
