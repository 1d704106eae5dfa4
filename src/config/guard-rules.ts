import { DEFAULT_PROTECT, type GuardRules } from '../fence/index.ts';
import type { Config, LocalRootConfig } from './config.ts';
import { ownFilePatterns } from './own-files.ts';

/** Returns the rules of a root: those of the operator, and that the files of the server itself are protected. */
export function guardRulesOf(root: LocalRootConfig, { file }: Pick<Config, 'file'>): GuardRules {
  const { path, readOnly = false, deny = [], protect = DEFAULT_PROTECT } = root;
  return { readOnly, deny, protect: [...protect, ...ownFilePatterns(path, file)] };
}
