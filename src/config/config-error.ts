/**
 * A mistake in the operator's configuration that prevents the start. The message is one line that says where it is and
 * how to fix it.
 */
export class ConfigError extends Error {
  constructor(message: string) {
    super(message.replace(/\s*[\r\n]+\s*/g, ' '));
    this.name = 'ConfigError';
  }
}

/** Reports a problem of a config by an error, and so does not return. */
export type Fail = (problem: string) => never;
