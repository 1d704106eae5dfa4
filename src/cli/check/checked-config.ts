import { allowedOn, type Config, type RootConfig } from '../../config/config.ts';
import { mountPath } from '../../config/mount-path.ts';
import { DEFAULT_PROTECT } from '../../fence/index.ts';
import { accessOf, type LoadDialect } from './access.ts';

/** What a config allows, for programs and for the tables. */
export type Checked = Awaited<ReturnType<typeof checkedConfig>>;

/** Collects what a config allows. */
export async function checkedConfig(
  config: Config,
  { warnings, loadDialect }: { readonly warnings: readonly string[]; readonly loadDialect: LoadDialect },
) {
  const { file, host, port, dialects, roots, auth } = config;
  return {
    config: file ?? null,
    address: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    tokens: auth?.tokens.map(({ name }) => name) ?? null,
    dialects: dialects.map(({ name, root, project }) => ({
      name,
      path: mountPath(name),
      roots: project !== undefined ? [] : root === undefined ? roots.map((each) => each.name) : [root],
    })),
    roots: roots.map(rootFacts),
    access: await accessOf(config, loadDialect),
    warnings,
  };
}

function rootFacts(root: RootConfig) {
  const tools = [...new Set(allowedOn(root))];
  if (root.path === undefined) {
    return { name: root.name, folder: null, read_only: true, tools, deny: [], protect: [], confirm: [], history: null };
  }
  const { name, path, readOnly = false, deny = [], protect = DEFAULT_PROTECT, confirm = [], history } = root;
  const kept = history && { keep_seconds: history.keepMs / 1000, max_bytes: history.maxBytes, over: history.over };
  return {
    name,
    folder: path,
    read_only: readOnly,
    tools,
    deny,
    protect,
    confirm: [...new Set(confirm)],
    history: kept ?? null,
  };
}
