import type { Config } from './config.ts';

/**
 * Reads and checks a config file, and the variables that it names. Everything wrong with it is a `ConfigError` that names the
 * file, the key and the fix. What that takes is loaded only here: a start on folders alone does not wait for it.
 */
export async function loadConfig(file: string, env: NodeJS.ProcessEnv = process.env): Promise<Config> {
  const { readConfigFile } = await import('./config-file.ts');
  return readConfigFile(file, env);
}
