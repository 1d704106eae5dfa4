import { isDeepStrictEqual } from 'node:util';
import { allowedOn, type Config, type LocalRootConfig } from '../../../config/config.ts';
import { ConfigError } from '../../../config/config-error.ts';
import { guardRulesOf } from '../../../config/guard-rules.ts';
import { type Backend, Root } from '../../../fence/index.ts';
import type { Leases } from '../../../files/lease/leases.ts';
import { type NamedLocalRoot, type NamedRoot, Roots } from '../../../tools/roots.ts';
import type { openHistory } from './open-history.ts';

/** An open root of a config, with its history. */
interface OpenedRoot extends Disposable {
  readonly configured: LocalRootConfig;
  readonly named: NamedLocalRoot;
}

/** A root that was opened for a config. */
export interface FreshRoot {
  readonly named: NamedLocalRoot;
  /** Whether no root of that name was this folder before. */
  readonly isNewFolder: boolean;
}

/** The roots of a config, ready to be served. */
export interface PreparedRoots {
  /** Those that were not open before. */
  readonly fresh: readonly FreshRoot[];
  /** Serves them, and returns those that are not served any more. Calls may still use these, so close them later. */
  commit(): RetiredRoot[];
  /** Closes what was opened for them. */
  abandon(): void;
}

/** A root that is not served any more. */
export interface RetiredRoot extends Disposable {
  readonly root: Root;
}

/** Options of `ServedRoots`. */
export interface ServedRootsOptions {
  readonly backend: Backend;
  /** Coordinate the changes of several machines; undefined if there is one. */
  readonly leases?: Leases | undefined;
}

/** Opens the history of a root. */
export type OpenHistory = typeof openHistory;

/** The open roots of the config that is served. */
export class ServedRoots {
  readonly roots = new Roots([]);
  readonly #options: ServedRootsOptions;
  #opened: readonly OpenedRoot[] = [];

  constructor(options: ServedRootsOptions) {
    this.#options = options;
  }

  /**
   * Opens the roots of a config that are not open yet, or not with the same rules or history. Raises `ConfigError` if
   * one cannot be opened; then nothing has changed.
   */
  prepare(config: Config, openHistory: OpenHistory = historiesUnavailable): PreparedRoots {
    const named: NamedRoot[] = [];
    const opened: OpenedRoot[] = [];
    const fresh: (FreshRoot & { readonly opened: OpenedRoot })[] = [];
    const abandon = (): void => {
      for (const each of fresh.splice(0).reverse()) each.opened[Symbol.dispose]();
    };
    try {
      for (const configured of config.roots) {
        const { name, path } = configured;
        if (path === undefined) {
          named.push({ kind: 'agent', root: { name }, allowed: new Set(allowedOn(configured)) });
          continue;
        }
        const before = this.#opened.find((each) => each.named.root.name === name);
        const isSameFolder = before?.named.root.isAt(path) ?? false;
        const kept = isSameFolder && before && isOpenedAlike(before.configured, configured) ? before : undefined;
        const each = kept ? withNames(kept, configured) : this.#open(configured, config, openHistory);
        opened.push(each);
        named.push(each.named);
        if (kept !== undefined) continue;
        if (isSameFolder && before) each.named.root.shareLocks(before.named.root);
        fresh.push({ named: each.named, isNewFolder: !isSameFolder, opened: each });
      }
    } catch (error) {
      abandon();
      throw error;
    }
    const commit = (): RetiredRoot[] => {
      const still = new Set(opened.map((each) => each.named.root));
      const retired = this.#opened.filter((each) => !still.has(each.named.root));
      this.#opened = opened;
      this.roots.replace(named);
      return retired.map((each) => ({ root: each.named.root, [Symbol.dispose]: () => each[Symbol.dispose]() }));
    };
    return { fresh, commit, abandon };
  }

  /** Closes all roots. */
  close(): void {
    for (const each of this.#opened.toReversed()) each[Symbol.dispose]();
    this.#opened = [];
  }

  #open(configured: LocalRootConfig, config: Config, openHistory: OpenHistory): OpenedRoot {
    const { origin, history } = configured;
    let root: Root | undefined;
    try {
      root = openRoot(configured, config, this.#options.backend);
      this.#options.leases?.coordinate(root);
      const opened = [root, ...(history === undefined ? [] : [openHistory(root, history)])];
      const dispose = (): void => {
        for (const each of opened.splice(0).reverse()) each[Symbol.dispose]();
      };
      return { configured, named: namedRoot(root, configured), [Symbol.dispose]: dispose };
    } catch (error) {
      root?.[Symbol.dispose]();
      if (!(error instanceof ConfigError)) throw error;
      throw new ConfigError(`${config.file === undefined ? '' : `${config.file}: `}${origin}: ${error.message}`);
    }
  }
}

function historiesUnavailable(): never {
  throw new Error('the config has a root with history, but openHistory is not given');
}

/** Returns an open root with what may be done in it by another config. */
function withNames({ named, ...rest }: OpenedRoot, configured: LocalRootConfig): OpenedRoot {
  return { ...rest, configured, named: namedRoot(named.root, configured) };
}

function namedRoot(root: Root, configured: LocalRootConfig): NamedLocalRoot {
  return { root, allowed: new Set(allowedOn(configured)), confirm: new Set(configured.confirm) };
}

/** Reports whether an open root fits two configs. What is allowed in it and needs a person is not part of it. */
function isOpenedAlike(one: LocalRootConfig, other: LocalRootConfig): boolean {
  const parts = ({ path, readOnly = false, deny = [], protect, history }: LocalRootConfig) => ({
    ...{ path, readOnly, deny, protect, history },
  });
  return isDeepStrictEqual(parts(one), parts(other));
}

function openRoot(configured: LocalRootConfig, config: Config, backend: Backend): Root {
  const { name, path } = configured;
  try {
    return Root.open(name, path, backend, guardRulesOf(configured, config));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigError(`the folder ${path} cannot be opened: ${code ?? 'unknown error'}`);
  }
}
