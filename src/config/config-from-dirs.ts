import path from 'node:path';
import { CAPABILITIES } from '../tools/capabilities.ts';
import type { Config, RootConfig } from './config.ts';
import { ConfigError } from './config-error.ts';
import { defaultConfig } from './defaults.ts';
import { checkFolder } from './folder-problem.ts';
import { nameProblem } from './root-name.ts';

/** A config for folders alone: a root for each, named after it, with all tools, reachable from this machine only. */
export function configFromDirs(dirs: readonly string[]): Config {
  const names = new Set<string>();
  const roots = dirs.map((dir): RootConfig => {
    const folder = path.resolve(dir);
    const trouble = dir === '' ? 'an empty path names no folder' : checkFolder(folder);
    if (trouble !== undefined) throw new ConfigError(trouble);
    const name = freeName(path.basename(folder) || 'root', names);
    if (nameProblem(name) !== undefined) {
      throw new ConfigError(`${dir}: the folder's name cannot name a root; use --config and choose a name there`);
    }
    names.add(name);
    return { name, path: folder, allowed: CAPABILITIES, origin: dir };
  });
  return { ...defaultConfig(), roots };
}

/** Folders of the same name get a number: `src`, `src-2`. */
function freeName(wanted: string, taken: ReadonlySet<string>): string {
  let name = wanted;
  for (let number = 2; taken.has(name); number += 1) name = `${wanted}-${number}`;
  return name;
}
