import fs from 'node:fs';
import path from 'node:path';

/** The name of the config that `ringfence init` writes, and that commands for people find. */
export const CONFIG_NAME = 'ringfence.yaml';

/** Returns the path of the config in a folder; undefined if it has none. */
export function configFileIn(folder: string): string | undefined {
  const file = path.join(folder, CONFIG_NAME);
  return fs.existsSync(file) ? file : undefined;
}
