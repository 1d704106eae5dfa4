import fs from 'node:fs';
import { createRequire } from 'node:module';
import { isIP } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Config, LocalRootConfig } from '../config/config.ts';
import { isBelow, realPath } from '../config/own-files.ts';
import { packageDependencies } from '../config/program/package-files.ts';
import { READING_CAPABILITIES } from '../tools/capabilities.ts';
import type { LandlockPolicy, PathRule } from './landlock.ts';

/** What tells that another process runs on the same machine: see `ownerState`. */
const BOOT_ID = '/proc/sys/kernel/random/boot_id';

/** What Node reads while it runs: koffi looks into the binary, and each new thread asks how much memory there is. */
const NODE_READS = [process.execPath, '/proc/self', '/proc/meminfo', BOOT_ID, '/sys/fs/cgroup', '/dev/urandom'];
/** What the C library reads to look up a host name. */
const NAME_SERVICE_READS = [
  ...['hosts', 'host.conf', 'resolv.conf', 'nsswitch.conf', 'gai.conf', 'ld.so.cache'].map((name) => `/etc/${name}`),
  ...['/lib', '/lib64', '/usr/lib', '/usr/lib64'],
];

const REDIS_PORT = 6379;

/**
 * Returns what a server with this config needs: its roots, its config and log file, and what Node and this package
 * load. `listens` says whether it listens on the config's address. A guide's project needs no rule, because only its
 * links are looked up.
 */
export function landlockPolicy(config: Config, { listens }: { readonly listens: boolean }): LandlockPolicy {
  const roots = config.roots.filter((root) => root.path !== undefined);
  const redis = config.cluster && new URL(config.cluster.redis);
  const resolvesHost =
    (listens && isIP(config.host) === 0) || (redis !== undefined && isIP(redis.hostname.replace(/^\[|\]$/g, '')) === 0);
  const certificates = redis?.protocol === 'rediss:' ? process.env.NODE_EXTRA_CA_CERTS : undefined;
  return {
    paths: [
      ...roots.map((root): PathRule => ({ path: root.path, access: accessTo(root) })),
      { path: '/dev/null', access: 'write' },
      ...renewable(config.file, 'open', config),
      ...renewable(config.logFile, 'append', config),
      ...(certificates ? [{ path: certificates, access: 'read' } as const] : []),
      ...[...NODE_READS, ...packageFolders(), ...(resolvesHost ? NAME_SERVICE_READS : [])].map(
        (readable): PathRule => ({ path: readable, access: 'read' }),
      ),
    ],
    port: listens ? config.port : undefined,
    connectPort: redis && Number(redis.port || REDIS_PORT),
  };
}

/** What a program reads when it starts: its libraries, the settings of OpenSSL, and the names of users. */
const START_READS = [
  '/proc',
  ...['ld.so.cache', 'ld.so.preload', 'ssl', 'passwd', 'group', 'localtime'].map((name) => `/etc/${name}`),
  ...['/lib', '/lib64', '/usr/lib', '/usr/lib64', '/usr/share/zoneinfo'],
];

/**
 * Returns what the parent of servers with this config needs. They inherit what it may do, so it may do what they may,
 * and besides start them: run Node, with the libraries that it has loaded itself.
 */
export function parentPolicy(config: Config): LandlockPolicy {
  const { paths, connectPort } = landlockPolicy(config, { listens: false });
  return {
    paths: [
      ...paths,
      ...[process.execPath, ...sharedObjects()].map((file): PathRule => ({ path: file, access: 'execute' })),
      ...START_READS.map((readable): PathRule => ({ path: readable, access: 'read' })),
    ],
    // The port is open already.
    port: undefined,
    connectPort,
  };
}

/** Returns the libraries of this process, among them the program that loads libraries. */
function sharedObjects(): readonly string[] {
  const report = process.report.getReport() as { readonly sharedObjects?: readonly string[] };
  return (report.sharedObjects ?? []).filter((file) => path.isAbsolute(file));
}

/**
 * Returns rules for a file that is replaced from time to time: an editor writes a new config file, and a log file is
 * renamed and created anew. A rule belongs to a file and not to its name, so a new file needs one for the folder. A
 * folder that holds roots, or is nobody's own, holds much besides: there it is the file of the start alone.
 */
function renewable(file: string | undefined, access: PathRule['access'], { roots }: Config): PathRule[] {
  if (file === undefined) return [];
  const folder = realPath(path.dirname(path.resolve(file)));
  const isShared =
    path.dirname(path.dirname(folder)) === path.dirname(folder) ||
    isBelow(realPath(os.homedir()), folder) ||
    isBelow(realPath(os.tmpdir()), folder) ||
    roots.some((root) => root.path !== undefined && isBelow(realPath(root.path), folder));
  return [{ path: file, access }, ...(isShared ? [] : [{ path: folder, access }])];
}

/** Returns what a root needs. */
export function accessTo({ allowed, readOnly = false }: LocalRootConfig): PathRule['access'] {
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
