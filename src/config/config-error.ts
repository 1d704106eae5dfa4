/** A start-up that cannot go on because of what the operator wrote. The message is one line that says where and how to fix it. */
export class ConfigError extends Error {
  constructor(message: string) {
    super(message.replace(/\s*[\r\n]+\s*/g, ' '));
    this.name = 'ConfigError';
  }
}
