import { ConfigError } from '../../config/config-error.ts';
import { changesSince, looksLikeChangeId } from '../../review/index.ts';
import { type PastChange, selectChanges } from '../../undo/index.ts';
import { CommandError } from '../terminal/command-error.ts';
import { momentsIn } from './moments.ts';
import type { Target } from './targets.ts';

/** The arguments that say which changes are meant. */
export interface ChangeArguments {
  readonly ids: readonly string[];
  /** `ROOT[:PATH]`. */
  readonly root: string | undefined;
}

/** The flags that say which changes are meant. */
export interface ChangeFlags {
  readonly since?: string;
  readonly call?: string;
  readonly client?: string;
}

/** Changes of a root that were chosen. */
export interface ChosenChanges {
  readonly target: Target;
  /** Newest first. */
  readonly changes: readonly PastChange[];
}

/** Tells the ids of changes from the root after them. Raises `ConfigError`. */
export function readArguments(words: readonly string[], flags: ChangeFlags): ChangeArguments {
  const ids = words.filter((word) => looksLikeChangeId(word));
  const [root, extra] = words.filter((word) => !looksLikeChangeId(word));
  if (extra !== undefined)
    throw new ConfigError(`"${root}" and "${extra}" are no ids of changes; give ids, and at most one root after them`);
  const isFiltered = Object.keys(CHOICES).some((name) => flags[name as keyof ChangeFlags] !== undefined);
  if (ids.length > 0 && isFiltered) throw new ConfigError('give either ids of changes, or --since, --call or --client');
  return { ids, root };
}

const CHOICES = { since: '--since T', call: '--call C', client: '--client C' } satisfies Record<
  keyof ChangeFlags,
  string
>;

/** Raises `ConfigError` unless something says which changes are meant. */
export function assertChosen(
  { ids }: ChangeArguments,
  flags: ChangeFlags,
  allowed: readonly (keyof ChangeFlags)[],
): void {
  if (ids.length > 0 || allowed.some((name) => flags[name] !== undefined)) return;
  const choices = ['the id of a change, from "ringfence history"', ...allowed.map((name) => CHOICES[name])];
  throw new ConfigError(`say which changes: give ${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`);
}

/** Finds the changes that are meant, in each root. Raises `CommandError` for an id that no root knows. */
export function choose(targets: readonly Target[], { ids }: ChangeArguments, flags: ChangeFlags): ChosenChanges[] {
  const { since, call, client } = flags;
  const moments =
    since === undefined ? targets.map((target) => ({ target, moment: undefined })) : momentsIn(targets, since);
  const chosen = moments.map(({ target, moment }) => {
    const filter = { path: target.path, call, client, ...(ids.length > 0 && { ids }) };
    return {
      target,
      changes: moment ? changesSince(target.history, moment, filter) : selectChanges(target.history, filter),
    };
  });
  const found = new Set(chosen.flatMap(({ changes }) => changes.map(({ id }) => id)));
  const missing = ids.filter((id) => !found.has(id));
  if (missing.length === 0) return chosen;
  const where = targets.map(({ name, path }) => (path === undefined ? name : `${name}:${path}`)).join(', ');
  throw new CommandError(
    `no change ${missing.join(', ')} in the history of ${where}; "ringfence history" lists those that are still kept`,
  );
}
