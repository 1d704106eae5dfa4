import type { Config } from '../config.ts';
import { ConfigError } from '../config-error.ts';
import { configFromDirs } from '../folders/config-from-dirs.ts';
import { configFileIn } from './default-config-file.ts';
import { loadConfig } from './load-config.ts';

/**
 * Returns the config that a command for people is about: the given file or folders, else `ringfence.yaml` of the current
 * folder, else the current folder itself. Raises `ConfigError`.
 */
export async function chosenConfig(
  file: string | undefined,
  dirs: readonly string[],
  secrets: NodeJS.ProcessEnv = process.env,
): Promise<Config> {
  if (file !== undefined && dirs.length > 0) {
    throw new ConfigError('give either --config FILE or folders, not both; list the folders as roots in the config');
  }
  if (dirs.length > 0) return configFromDirs(dirs);
  const chosen = file ?? configFileIn('.');
  return chosen === undefined ? configFromDirs(['.']) : loadConfig(chosen, process.env, secrets);
}
