import os from 'node:os';
import path from 'node:path';
import { allowedOn, type Config, canChange, type LocalRootConfig } from '../../config/config.ts';
import { rootKey } from '../../config/explain/decision.ts';
import { Root } from '../../fence/index.ts';
import { isLoopbackAddress } from '../../server/http/access-control.ts';

/** Returns what an operator may not have intended, each as one sentence that says what to do. */
export function warningsOf(config: Config, unsetSecrets: readonly string[]): string[] {
  const local = config.roots.filter((root) => root.path !== undefined);
  return [
    ...unsetSecrets.map(
      (name) => `the environment variable ${name} is not set here; the server does not start without it`,
    ),
    ...openToAll(config),
    ...local.flatMap((root, at) => local.slice(at + 1).flatMap((other) => overlap(root, other))),
    ...local.flatMap(wholeHome),
    ...config.roots.flatMap((root) =>
      allowedOn(root).length === 0 ? [`root ${root.name} allows no tool, so nobody can use it; see allowed_tools`] : [],
    ),
    ...local.flatMap((root) =>
      root.protect !== undefined && canChange(root) && !root.protect.some((each) => each.includes('hooks'))
        ? [
            `root ${root.name} does not protect git hooks, which run as you; add "**/.git/hooks" to ${keyOf(root)}.protect`,
          ]
        : [],
    ),
    ...unusedRoots(config),
    ...(config.landlock === 'off'
      ? ['hardening.landlock is off: only the fence confines the server, not the kernel']
      : []),
  ];
}

function openToAll({ auth, host, roots }: Config): string[] {
  if (auth !== undefined || isLoopbackAddress(host)) return [];
  const what = roots.some(canChange) ? 'read and write' : 'read';
  return [
    `"ringfence serve" lets anyone who reaches this machine over the network (host ${host}) ${what} all roots; set auth.tokens, or host: 127.0.0.1`,
  ];
}

function overlap(a: LocalRootConfig, b: LocalRootConfig): string[] {
  using first = Root.open(a.name, a.path);
  using second = Root.open(b.name, b.path);
  const inFirst = first.fromHostPath(second.share().real);
  if (inFirst === '.')
    return [`roots ${a.name} and ${b.name} are the same folder: each lets clients do what it allows`];
  if (inFirst !== undefined) return [inside(b, a)];
  return second.fromHostPath(first.share().real) === undefined ? [] : [inside(a, b)];
}

function inside(inner: LocalRootConfig, outer: LocalRootConfig): string {
  return `root ${inner.name} is inside root ${outer.name}: what ${inner.name} denies or protects can be reached through ${outer.name}, unless that rules it out too`;
}

function wholeHome(root: LocalRootConfig): string[] {
  const folder = path.resolve(root.path);
  if (folder === path.parse(folder).root) return [`root ${root.name} is the whole file system`];
  return folder === os.homedir() ? [`root ${root.name} is your whole home folder, with its keys and settings`] : [];
}

function unusedRoots({ auth, roots }: Config): string[] {
  if (auth === undefined) return [];
  return roots.flatMap(({ name }) =>
    auth.tokens.some((token) => token.roots.includes(name)) ? [] : [`no token may use root ${name} over HTTP`],
  );
}

function keyOf(root: LocalRootConfig): string {
  return rootKey(root) ?? root.name;
}
