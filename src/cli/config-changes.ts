import { isDeepStrictEqual } from 'node:util';
import type { AuthConfig, Config, RootConfig } from '../config/config.ts';

/** The keys that hold from the next call on, and their names in the config file. All others need a new start. */
const LIVE_KEYS: Partial<Record<keyof Config, string>> = {
  maxFullReadSize: 'max_full_read_size',
  requestTimeout: 'request_timeout',
  confirmTimeout: 'confirm_timeout',
  results: 'results',
  maxResultChars: 'max_result_chars',
  annotations: 'annotations',
  logLevel: 'log_level',
  durableWrites: 'durable_writes',
  rateLimit: 'rate_limit',
};
/** These are looked into. */
const LISTS: readonly (keyof Config)[] = ['roots', 'auth', 'file'];
/** These are for the process that listens and writes the log. */
const PARENT_KEYS: readonly (keyof Config)[] = ['host', 'port', 'logFile'];
/** Keys that have another name in the config file. */
const WRITTEN: Readonly<Record<string, string>> = { landlock: 'hardening.landlock', memory: 'limits.memory' };

/** What a new config changes, by names alone, as the log shows it. What has not changed is left out. */
export interface ConfigChanges {
  readonly keys?: string[];
  readonly roots_added?: string[];
  readonly roots_removed?: string[];
  readonly roots_changed?: string[];
  readonly tokens_added?: string[];
  readonly tokens_removed?: string[];
  readonly tokens_changed?: string[];
}

/** Returns the names of what differs between two configs that can be served one after the other. */
export function changesBetween(before: Config, next: Config): ConfigChanges {
  const keys = differing(before, next).flatMap((key) => LIVE_KEYS[key] ?? []);
  const roots = differences(before.roots.map(withoutOrigin), next.roots.map(withoutOrigin));
  const tokens = differences(before.auth?.tokens ?? [], next.auth?.tokens ?? []);
  const lists = {
    keys,
    roots_added: roots.added,
    roots_removed: roots.removed,
    roots_changed: roots.changed,
    tokens_added: tokens.added,
    tokens_removed: tokens.removed,
    tokens_changed: tokens.changed,
  };
  return Object.fromEntries(Object.entries(lists).filter(([, names]) => names.length > 0));
}

/**
 * Returns as much of a new config as can be served without a new start, and the names of the rest. What cannot stays as
 * it was: the keys of the start, whether there are tokens at all, and which files of clients there are.
 */
export function servableNow(before: Config, next: Config): { readonly config: Config; readonly restart: string[] } {
  const restart: string[] = [];
  const kept: Record<string, unknown> = {};
  for (const key of differing(before, next)) {
    if (LISTS.includes(key) || LIVE_KEYS[key] !== undefined) continue;
    kept[key] = before[key];
    restart.push(WRITTEN[key] ?? snakeCase(key));
  }
  let auth: AuthConfig | undefined = next.auth;
  if ((before.auth === undefined) !== (next.auth === undefined)) {
    auth = before.auth;
    restart.push('auth');
  }
  const roots = next.roots.flatMap((root) => {
    const own = before.roots.find(({ name }) => name === root.name);
    if (root.agent === undefined && own?.agent === undefined) return [root];
    if (own?.agent !== undefined && isDeepStrictEqual(own.agent, root.agent)) return [root];
    restart.push(`roots.${root.name}.agent`);
    return own?.agent === undefined ? [] : [own];
  });
  return { config: { ...next, ...kept, auth, roots }, restart };
}

/** Returns the names of what differs between two configs that new workers do not change: it is their parent's. */
export function keptByParent(before: Config, next: Config): string[] {
  return differing(before, next).flatMap((key) => (PARENT_KEYS.includes(key) ? snakeCase(key) : []));
}

function differing(before: Config, next: Config): (keyof Config)[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(next)]) as Set<keyof Config>;
  return [...keys].filter((key) => !isDeepStrictEqual(before[key], next[key]));
}

interface Named {
  readonly name: string;
}

function differences(before: readonly Named[], next: readonly Named[]) {
  const find = (list: readonly Named[], name: string) => list.find((each) => each.name === name);
  const namesOf = (list: readonly Named[]): string[] => list.map(({ name }) => name);
  return {
    added: namesOf(next.filter(({ name }) => find(before, name) === undefined)),
    removed: namesOf(before.filter(({ name }) => find(next, name) === undefined)),
    changed: namesOf(
      next.filter((each) => {
        const own = find(before, each.name);
        return own !== undefined && !isDeepStrictEqual(own, each);
      }),
    ),
  };
}

/** The place in the config file changes when roots are added before it. */
function withoutOrigin({ origin: _, ...root }: RootConfig): Named {
  return root;
}

function snakeCase(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
