import fs from 'node:fs';
import path from 'node:path';
import { ensureHostFolder } from '../../fence/index.ts';
import { MAX_READ_BYTES } from '../../files/read/read-file.ts';
import { CAPABILITIES } from '../../tools/capabilities.ts';
import type { Config } from '../config.ts';
import { ConfigError } from '../config-error.ts';
import { defaultConfig } from '../defaults.ts';
import { folderProblem } from '../folder-problem.ts';

/** The name of the one root, as it appears in the log. */
const ROOT = 'memory';

/**
 * Returns the config of `ringfence memory` on the folder `BASE_PATH`, and creates that folder if it is missing. Raises
 * `ConfigError`.
 */
export function memoryConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const folder = env.BASE_PATH;
  const fail = (problem: string): never => {
    throw new ConfigError(`BASE_PATH: ${problem}`);
  };
  if (folder === undefined || folder === '')
    return fail('not set; set it to the absolute path of the folder to keep files in');
  if (!path.isAbsolute(folder)) return fail(`must be an absolute path, got "${folder}"`);
  try {
    ensureHostFolder(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EEXIST')
      return fail(`the folder ${folder} cannot be made: ${code ?? 'unknown error'}; correct the path or make it`);
  }
  const trouble = folderProblem(folder) ?? writeTrouble(folder);
  if (trouble !== undefined) return fail(trouble);
  return {
    ...defaultConfig(),
    maxFullReadSize: MAX_READ_BYTES,
    roots: [{ name: ROOT, path: folder, allowed: CAPABILITIES, origin: 'BASE_PATH' }],
    dialects: [{ name: 'memory', root: ROOT }],
  };
}

function writeTrouble(folder: string): string | undefined {
  try {
    fs.accessSync(folder, fs.constants.W_OK);
    return undefined;
  } catch {
    return `the folder ${folder} cannot be written by this user; change its mode or the user`;
  }
}
