/** Ends what belongs to a key when its time is over, unless it is taken up again before. */
export class ExpiringKeys {
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #end: (key: string) => void;

  constructor(end: (key: string) => void) {
    this.#end = end;
  }

  /** Lets it live for so long from now. */
  keep(key: string, milliseconds: number): void {
    this.resume(key);
    const expire = (): void => {
      this.#timers.delete(key);
      this.#end(key);
    };
    this.#timers.set(key, setTimeout(expire, milliseconds).unref());
  }

  /** Somebody else sees to its end from now on. */
  resume(key: string): void {
    clearTimeout(this.#timers.get(key));
    this.#timers.delete(key);
  }
}
