import type { Call, ClientState } from '../model/api-types.ts';

/** How many clients are remembered. The one that called least recently is forgotten first. */
const MAX_CLIENTS = 1_000;

type Tally = { -readonly [K in keyof Omit<ClientState, 'sessions'>]: ClientState[K] };

/** Counts calls by client: the name that a program gives itself, and its token. */
export class ClientTallies {
  /** From the least to the most recently seen. */
  readonly #tallies = new Map<string, Tally>();

  add({ client, token, outcome, violation, time }: Omit<Call, 'id'>): void {
    const key = `${token ?? ''}\n${client ?? ''}`;
    const tally = this.#tallies.get(key) ?? {
      client: client ?? 'unknown',
      token,
      calls: 0,
      errors: 0,
      violations: 0,
      last_seen: 0,
    };
    tally.calls += 1;
    if (outcome === 'error') tally.errors += 1;
    if (violation) tally.violations += 1;
    tally.last_seen = time;
    this.#tallies.delete(key);
    this.#tallies.set(key, tally);
    if (this.#tallies.size > MAX_CLIENTS) this.#tallies.delete(this.#tallies.keys().next().value as string);
  }

  all(): Tally[] {
    return [...this.#tallies.values()];
  }
}
