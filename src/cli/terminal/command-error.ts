/** Why a command was not carried out. The message is one line that says what to do next. The exit code is 1. */
export class CommandError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CommandError';
  }
}
