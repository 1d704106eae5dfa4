import fs from 'node:fs';
import { createRequire } from 'node:module';
import { isIP } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Config, LocalRootConfig } from '../config/config.ts';
import { packageDependencies } from '../config/package-files.ts';
import { READING_CAPABILITIES } from '../tools/capabilities.ts';
import type { LandlockPolicy, PathRule } from './landlock.ts';

/** What Node reads while it runs: koffi looks into the binary, and each new thread asks how much memory there is. */
/** What tells that another process runs on the same machine: see `ownerState`. */
const BOOT_ID = '/proc/sys/kernel/random/boot_id';

const NODE_READS = [process.execPath, '/proc/self', '/proc/meminfo', BOOT_ID, '/sys/fs/cgroup', '/dev/urandom'];
/** What the C library reads to look up a host name. */
const NAME_SERVICE_READS = [
  ...['hosts', 'host.conf', 'resolv.conf', 'nsswitch.conf', 'gai.conf', 'ld.so.cache'].map((name) => `/etc/${name}`),
  ...['/lib', '/lib64', '/usr/lib', '/usr/lib64'],
];

/**
 * Returns what a server with this config needs: its roots, its config file, and what Node and this package load.
 * `listens` says whether it listens on the config's address. A guide's project needs no rule, because only its links
 * are looked up.
 */
export function landlockPolicy(config: Config, { listens }: { readonly listens: boolean }): LandlockPolicy {
  const roots = config.roots.filter((root) => root.path !== undefined);
  const resolvesHost = listens && isIP(config.host) === 0;
  return {
    paths: [
      ...roots.map((root): PathRule => ({ path: root.path, access: accessTo(root) })),
      { path: '/dev/null', access: 'write' },
      ...[
        ...NODE_READS,
        ...packageFolders(),
        ...(config.file === undefined ? [] : [config.file]),
        ...(resolvesHost ? NAME_SERVICE_READS : []),
      ].map((readable): PathRule => ({ path: readable, access: 'read' })),
    ],
    port: listens ? config.port : undefined,
  };
}

function accessTo({ allowed, readOnly = false }: LocalRootConfig): PathRule['access'] {
  return readOnly || allowed.every((capability) => READING_CAPABILITIES.includes(capability)) ? 'read' : 'write';
}

/**
 * Returns the folders with the code of this package and its dependencies. They may be replaced by an update while the
 * server runs, so these are the folders that stay.
 */
function packageFolders(): Set<string> {
  const own = fs.realpathSync.native(fileURLToPath(new URL('../..', import.meta.url)));
  const searched = createRequire(import.meta.url).resolve.paths('any') ?? [];
  const dependencies = packageDependencies().flatMap((name) => {
    for (const folder of searched) {
      const found = path.join(folder, name);
      if (fs.existsSync(found)) return [fs.realpathSync.native(found)];
    }
    return [];
  });
  return new Set([own, ...dependencies].map(outermostModules));
}

/** Returns the outermost `node_modules` that a folder is in, else the folder itself. */
function outermostModules(folder: string): string {
  const [before, ...inside] = folder.split(`${path.sep}node_modules${path.sep}`);
  return inside.length > 0 ? path.join(before as string, 'node_modules') : folder;
}
