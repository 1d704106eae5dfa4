/** Calls a function for each key when the key's time is up, unless it is cancelled or scheduled again before. */
export class ExpiringKeys {
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #expire: (key: string) => void;

  constructor(expire: (key: string) => void) {
    this.#expire = expire;
  }

  /** Schedules a key to expire, replacing any earlier schedule. */
  schedule(key: string, milliseconds: number): void {
    this.cancel(key);
    const expire = (): void => {
      this.#timers.delete(key);
      this.#expire(key);
    };
    this.#timers.set(key, setTimeout(expire, milliseconds).unref());
  }

  /** Keeps a key from expiring. */
  cancel(key: string): void {
    clearTimeout(this.#timers.get(key));
    this.#timers.delete(key);
  }
}
