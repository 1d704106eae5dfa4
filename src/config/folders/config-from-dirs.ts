import path from 'node:path';
import { CAPABILITIES } from '../../tools/capabilities.ts';
import type { Config, RootConfig } from '../config.ts';
import { ConfigError } from '../config-error.ts';
import { defaultConfig } from '../defaults.ts';
import { folderProblem } from '../folder-problem.ts';
import { rootNameProblem } from '../root-name.ts';

/**
 * Returns a config with one root per folder, named after it, with all tools allowed, and on the loopback address.
 * Raises `ConfigError`.
 */
export function configFromDirs(dirs: readonly string[]): Config {
  const names = new Set<string>();
  const roots = dirs.map((dir): RootConfig => {
    const folder = path.resolve(dir);
    const trouble = dir === '' ? 'an empty path names no folder' : folderProblem(folder);
    if (trouble !== undefined) throw new ConfigError(trouble);
    const name = freeName(path.basename(folder) || 'root', names);
    if (rootNameProblem(name) !== undefined) {
      throw new ConfigError(`${dir}: the folder's name cannot name a root; use --config and choose a name there`);
    }
    names.add(name);
    return { name, path: folder, allowed: CAPABILITIES, origin: dir };
  });
  return { ...defaultConfig(), roots };
}

/** Appends a number to a name that is already taken: `src`, `src-2`. */
function freeName(wanted: string, taken: ReadonlySet<string>): string {
  let name = wanted;
  for (let number = 2; taken.has(name); number += 1) name = `${wanted}-${number}`;
  return name;
}
