import { isDeepStrictEqual } from 'node:util';
import type { AuthConfig, Config, TokenConfig } from '../../../config/config.ts';
import { principalClient } from '../../clients/peer.ts';

/** Who called, and what the call was about. */
export interface SeenCall {
  /** As the call named it, so there may be no such root. */
  readonly root: string | null;
  /** The name of the caller's token. */
  readonly token: string | null;
}

/** The roots that a viewer is made for. */
interface KnownRoots {
  /** Those of the config. */
  readonly roots: readonly string[];
  /** Those of former configs, too: what was done in them is still remembered. */
  readonly known: ReadonlySet<string>;
  /** The viewer of this token until now, who goes on to see roots that are removed. */
  readonly before: Viewer | undefined;
}

/** A token with which people sign in to the console, and what they see and may do there. */
export class Viewer {
  readonly name: string;
  /** The hash of the token, so that whoever signed in with another one has to do so again. */
  readonly sha256: string;
  /** The key that it has as a client, so that nobody agrees to calls of their own. */
  readonly key: string;
  /** In the order of the config. */
  readonly roots: readonly string[];
  /** Whether changes may be undone, accepted and taken back. */
  readonly mayUndo: boolean;
  readonly #visible: ReadonlySet<string>;
  readonly #known: ReadonlySet<string>;
  readonly #callers: ReadonlySet<string>;

  constructor(token: TokenConfig, { tokens }: AuthConfig, { roots, known, before }: KnownRoots) {
    this.name = token.name;
    this.sha256 = token.sha256.toString('hex');
    this.key = principalClient(token.name).key;
    this.roots = roots.filter((root) => token.roots.includes(root));
    this.mayUndo = token.tools?.includes('undo_change') ?? true;
    const removed = [...(before === undefined ? [] : before.#visible)].filter((root) => !roots.includes(root));
    this.#visible = new Set([...this.roots, ...removed]);
    this.#known = known;
    this.#callers = new Set(tokens.filter((other) => this.seesRoots(other.roots)).map(({ name }) => name));
  }

  /** Reports whether another viewer of the same token sees the same and may do the same. */
  isLike(other: Viewer): boolean {
    return isDeepStrictEqual(this.#facts(), other.#facts());
  }

  seesRoot(root: string): boolean {
    return this.#visible.has(root);
  }

  seesRoots(roots: readonly string[]): boolean {
    return roots.every((root) => this.#visible.has(root));
  }

  /** Reports whether a token of the config has no root that this viewer does not see. */
  seesToken(name: string): boolean {
    return this.#callers.has(name);
  }

  /**
   * Reports whether a call is about a root that this viewer sees. A call about none is seen by whoever sees all roots of
   * the token that made it.
   */
  sees({ root, token }: SeenCall): boolean {
    if (root !== null && this.#known.has(root)) return this.#visible.has(root);
    return token !== null && this.#callers.has(token);
  }

  #facts(): readonly unknown[] {
    return [this.sha256, this.roots, this.mayUndo, this.#visible, this.#known, this.#callers];
  }
}

/** The tokens of the config with `console: true`. */
export class Viewers {
  #all: readonly Viewer[] = [];
  #known: ReadonlySet<string> = new Set();

  constructor(config: Config) {
    this.replace(config);
  }

  get all(): readonly Viewer[] {
    return this.#all;
  }

  /** Replaces the config. A viewer whose rights change becomes another object; all others stay the same. */
  replace(config: Config): void {
    const { auth = { tokens: [] } } = config;
    const roots = config.roots.map(({ name }) => name);
    const known = new Set([...this.#known, ...roots]);
    this.#known = known;
    this.#all = auth.tokens
      .filter((token) => token.console)
      .map((token) => {
        const before = this.current({ name: token.name, sha256: token.sha256.toString('hex') });
        const viewer = new Viewer(token, auth, { roots, known, before });
        return before?.isLike(viewer) ? before : viewer;
      });
  }

  /** Returns who a viewer is by now; undefined if its token is gone, or is another one. */
  current({ name, sha256 }: Pick<Viewer, 'name' | 'sha256'>): Viewer | undefined {
    return this.#all.find((viewer) => viewer.name === name && viewer.sha256 === sha256);
  }
}
