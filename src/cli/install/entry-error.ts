/** Why an entry cannot be written into the text of a config, or removed from it. */
export class EntryError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'EntryError';
  }
}
