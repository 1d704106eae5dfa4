import { allowedOn, type Config, type DialectConfig, type RootConfig } from '../../config/config.ts';
import type { Capability } from '../../tools/capabilities.ts';
import type { Dialect } from '../../tools/dialect.ts';

/** Loads the dialect of a config. */
export type LoadDialect = (name: DialectConfig['name'], config: Config) => Promise<Dialect>;

/** What a client may do in a root, in a dialect. */
export interface Access {
  /** The name of a token, or of those who need none. */
  readonly client: string;
  readonly root: string;
  readonly dialect: string;
  readonly tools: readonly string[];
  /** Whether these are all tools of the dialect. */
  readonly isAll: boolean;
}

const ANYONE = 'anyone';
/** Over stdio there are no tokens: who starts the server may do all that it allows. */
const STDIO = '(stdio)';

/** Returns what each client may do in each root, in each dialect. */
export async function accessOf(config: Config, loadDialect: LoadDialect): Promise<Access[]> {
  const rows: Access[] = [];
  for (const served of config.dialects) {
    const { tools } = await loadDialect(served.name, config);
    for (const { client, roots, limit } of clientsOf(config)) {
      for (const root of config.roots.filter((each) => isServed(each, served) && roots.includes(each.name))) {
        const allowed = new Set<Capability>(allowedOn(root).filter((each) => limit?.includes(each) ?? true));
        const usable = tools.filter(({ needs }) => needs.length > 0 && needs.every((need) => allowed.has(need)));
        const isAll = usable.length === tools.filter(({ needs }) => needs.length > 0).length;
        rows.push({ client, root: root.name, dialect: served.name, tools: usable.map(({ name }) => name), isAll });
      }
    }
  }
  return rows;
}

function isServed(root: RootConfig, { root: bound, project }: DialectConfig): boolean {
  return project === undefined && (bound === undefined || bound === root.name);
}

interface KnownClient {
  readonly client: string;
  readonly roots: readonly string[];
  readonly limit: readonly Capability[] | undefined;
}

function clientsOf({ auth, roots }: Config): KnownClient[] {
  const all = roots.map(({ name }) => name);
  if (auth === undefined) return [{ client: ANYONE, roots: all, limit: undefined }];
  return [
    ...auth.tokens.map(({ name, roots: own, tools }) => ({ client: name, roots: own, limit: tools })),
    { client: STDIO, roots: all, limit: undefined },
  ];
}
