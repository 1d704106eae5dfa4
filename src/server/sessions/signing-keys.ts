import { createHmac, randomBytes } from 'node:crypto';

/** The secrets of signing keys: the first signs, all are accepted. */
export type SigningSecrets = readonly [string, ...string[]];

/** Returns the secrets of processes that nobody has given any. */
export function newSecrets(): SigningSecrets {
  return [randomBytes(32).toString('hex')];
}

/**
 * The keys that sign what clients carry from one request to the next. They derive from secrets that all replicas know,
 * one key for each purpose, so that nothing that is signed for one is taken for another.
 */
export class SigningKeys {
  readonly #secrets: SigningSecrets;

  /** Takes the secrets, of which the first signs and all are accepted; by default a new one, which no other process has. */
  constructor(secrets: SigningSecrets = newSecrets()) {
    this.#secrets = secrets;
  }

  /** Returns the keys for a purpose: the one that signs, then those that are accepted as well. */
  for(purpose: string): readonly [Buffer, ...Buffer[]] {
    const [first, ...more] = this.#secrets;
    const derive = (secret: string): Buffer => createHmac('sha256', secret).update(`ringfence ${purpose}`).digest();
    return [derive(first), ...more.map(derive)];
  }
}
