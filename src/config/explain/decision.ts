import { DEFAULT_PROTECT, type Refusal } from '../../fence/index.ts';
import type { Capability } from '../../tools/capabilities.ts';
import type { AnyRootConfig, LocalRootConfig } from '../config.ts';

/** What decides whether a path can be read or changed. */
export type DecidingRule =
  /** Nothing is against it. */
  | 'allowed'
  | 'allowed_tools'
  | 'read_only'
  | 'deny'
  | 'protect'
  /** The config or the log of the server itself. */
  | 'own_file'
  /** A name that the program keeps for itself. */
  | 'reserved'
  /** A link on the way leads out of the root. */
  | 'link_leads_out'
  /** The path cannot be followed: a circle of links, or no permission. */
  | 'unreachable';

/** Whether a path can be read or changed in a root, and why. */
export interface Decision {
  readonly allowed: boolean;
  readonly rule: DecidingRule;
  readonly pattern?: string;
  /** Where that is written: a key of the config, or what else it comes from. */
  readonly origin?: string;
  /** The capabilities by which it can be done. */
  readonly tools: readonly Capability[];
  /** Those of them to whose use a person has to agree first. */
  readonly confirm: readonly Capability[];
}

/** Returns the decision that something cannot be done. */
export function refused(rule: DecidingRule, facts: Pick<Decision, 'pattern' | 'origin'> = {}): Decision {
  return { allowed: false, rule, ...facts, tools: [], confirm: [] };
}

/** Returns the key of the config that a root is written at, such as `roots[0]`; undefined for a folder without a config. */
export function rootKey({ origin }: AnyRootConfig): string | undefined {
  return /^roots\[\d+\]/.exec(origin)?.[0];
}

/** Returns the decision of a rule of a root, and where the operator wrote it. */
export function refusedBy({ rule, pattern }: Refusal, root: LocalRootConfig): Decision {
  const key = rootKey(root);
  const keyOf = (name: string): { origin?: string } => (key === undefined ? {} : { origin: `${key}.${name}` });
  if (rule === 'read_only') return refused('read_only', keyOf('read_only'));
  if (rule === 'deny') {
    const at = root.deny?.lastIndexOf(pattern) ?? -1;
    if (at >= 0) return refused('deny', { pattern, ...keyOf(`deny[${at}]`) });
    return refused('reserved', { pattern, origin: 'the folder of histories, in every root' });
  }
  // A file or link in the place of a folder above what is protected would stand in for it.
  const covers = (each: string): boolean => each === pattern || each.startsWith(`${pattern.replace(/^\//, '')}/`);
  const written = root.protect?.findLastIndex(covers) ?? -1;
  if (written >= 0) return refused('protect', { pattern, ...keyOf(`protect[${written}]`) });
  if (root.protect === undefined && DEFAULT_PROTECT.some(covers)) {
    return refused('protect', { pattern, origin: 'the default of protect' });
  }
  return refused('own_file', { pattern, origin: 'files of the server itself' });
}
