import fs from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { loadConfig } from '../../../src/config/file/load-config.ts';
import type { DocWorld } from './doc-world.ts';

interface Sample {
  readonly roots?: readonly { readonly path?: string }[];
  readonly auth?: { readonly tokens?: readonly { readonly token_env?: string }[] };
  readonly cluster?: { readonly secret_env?: string; readonly redis?: string };
}

const KEYS = /^(?:roots|dialects|auth|hardening|rate_limit|limits|console|cluster|results|log_\w+):/m;
const SOME_ROOT = '\nroots:\n  - { name: some, path: ., allowed_tools: ["*"] }\n';

/** Reports whether a block of YAML is a config of this server, or a part of one. */
export function isConfig(text: string): boolean {
  return KEYS.test(text);
}

/**
 * Loads a config as the server does. Its folders are made first, absolute ones below the home folder of the world, and so
 * are the variables that hold its tokens and secrets. A part of a config gets a root. With a file, it is kept there.
 */
export async function loadSample(world: DocWorld, text: string, file?: string): Promise<void> {
  const whole = /^roots:/m.test(text) ? text : text + SOME_ROOT;
  const here = world
    .fromDocs(whole)
    .replaceAll(/(?<=\bpath: )(?=\/)(?!\/tmp)/g, world.home)
    .replaceAll(/(?<=\bpath: )~(?=\/)/g, world.home);
  const at = file === undefined ? world.at('.sample/ringfence.yaml') : world.fromDocs(file.replace(/^~/, world.home));
  fs.mkdirSync(path.dirname(at), { recursive: true });
  fs.writeFileSync(at, here);
  const { roots = [], auth, cluster } = parse(here) as Sample;
  for (const { path: folder } of roots) {
    if (folder !== undefined) fs.mkdirSync(path.resolve(path.dirname(at), folder), { recursive: true });
  }
  const names = [
    ...(auth?.tokens?.flatMap(({ token_env }) => token_env ?? []) ?? []),
    ...(cluster?.secret_env === undefined ? [] : [cluster.secret_env]),
    ...[...(cluster?.redis ?? '').matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name),
  ];
  const tokens = names.map((name) => [name, world.exported(name) ?? `the-secret-value-of-the-variable-${name}`]);
  await loadConfig(at, { ...world.env, ...Object.fromEntries(tokens) });
}
