import type { Config } from '../config.ts';

/**
 * Reads and checks a config file and the environment variables that it names. Raises a `ConfigError` that names file,
 * key and fix. Tokens and other secrets are read from `secrets`. The parser and the schema are loaded on the first call,
 * so that a start without a config file does not wait for them.
 */
export async function loadConfig(
  file: string,
  env: NodeJS.ProcessEnv = process.env,
  secrets: NodeJS.ProcessEnv = env,
): Promise<Config> {
  const { readConfigFile } = await import('./config-file.ts');
  return readConfigFile(file, env, secrets);
}
