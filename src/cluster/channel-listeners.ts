/** Is told the messages of a channel. */
export type Listener = (message: string) => void;

/** The listeners of this process, by channel. */
export class ChannelListeners {
  readonly #listeners = new Map<string, Set<Listener>>();

  /** The channels that have listeners. */
  get channels(): readonly string[] {
    return [...this.#listeners.keys()];
  }

  /**
   * Adds a listener to a channel; the same function may be added more than once. Returns what removes it, and reports
   * whether that has left the channel without listeners.
   */
  add(channel: string, listener: Listener): () => boolean {
    const own: Listener = (message) => listener(message);
    const listeners = this.#listeners.get(channel) ?? new Set();
    this.#listeners.set(channel, listeners.add(own));
    return () => {
      if (!listeners.delete(own) || listeners.size > 0 || this.#listeners.get(channel) !== listeners) return false;
      return this.#listeners.delete(channel);
    };
  }

  /** Returns how many listeners a channel has now. */
  count(channel: string): number {
    return this.#listeners.get(channel)?.size ?? 0;
  }

  /** Tells a message to the listeners that a channel has now. */
  deliver(channel: string, message: string): void {
    for (const listener of this.#listeners.get(channel) ?? []) listener(message);
  }

  /** Removes all listeners. */
  clear(): void {
    for (const listeners of this.#listeners.values()) listeners.clear();
    this.#listeners.clear();
  }
}
