import type { Config, DialectConfig } from '../config/config.ts';
import { builtDescription } from '../config/program/package-files.ts';
import { type ServerDescription, withHonestAnnotations } from '../server/description/server-description.ts';
import { type Dialect, mergeDialects } from '../tools/dialect.ts';

/**
 * The dialects that are served, as the config describes them. Whoever has one of these objects sees the next config in
 * it.
 */
export class DescribedDialects {
  #config: Config;
  readonly #dialects = new Map<DialectConfig['name'], Promise<Dialect>>();
  readonly #descriptions = new Map<DialectConfig['name'], Promise<ServerDescription>>();

  constructor(config: Config) {
    this.#config = config;
  }

  /** Loads a dialect, once. */
  dialect(name: DialectConfig['name']): Promise<Dialect> {
    return once(this.#dialects, name, () => loadDialect(name, this.#config));
  }

  /** Loads the description of a dialect, once. */
  description(name: DialectConfig['name']): Promise<ServerDescription> {
    return once(this.#descriptions, name, () => loadDescription(name, this.#config));
  }

  /** Loads for another config what was loaded so far. Nothing changes before the result is called. */
  async prepare(config: Config): Promise<() => void> {
    const changes = await Promise.all([
      ...[...this.#dialects].map(async ([name, own]) => [await own, await loadDialect(name, config)]),
      ...[...this.#descriptions].map(async ([name, own]) => [await own, await loadDescription(name, config)]),
    ]);
    return () => {
      this.#config = config;
      for (const [own, next] of changes) Object.assign(own as object, next);
    };
  }
}

/** Returns a copy of what `load` returns, the same one for a key, unless it fails. */
function once<K, V extends object>(loaded: Map<K, Promise<V>>, key: K, load: () => Promise<V>): Promise<V> {
  const known = loaded.get(key);
  if (known !== undefined) return known;
  const own = load().then((value) => ({ ...value }));
  loaded.set(key, own);
  own.catch(() => loaded.delete(key));
  return own;
}

/** Loads a dialect as configured. Unused dialects are not loaded, because the client waits for the start. */
export async function loadDialect(name: DialectConfig['name'], config: Config): Promise<Dialect> {
  switch (name) {
    case 'workspace': {
      const workspace = hasHistory(config)
        ? (await import('../dialects/workspace/with-history.ts')).workspaceWithHistory
        : (await import('../dialects/workspace/index.ts')).workspace;
      // With a root of client-side files, the client can also hand files over by itself, with the guide tools.
      return hasAgentRoot(config) ? mergeDialects(workspace, await loadDialect('guide', config)) : workspace;
    }
    case 'memory':
      return (await import('../dialects/memory/index.ts')).memory;
    case 'classic':
      return (await import('../dialects/classic/index.ts')).classic;
    case 'guide':
      return (await import('../dialects/guide/index.ts')).guide;
  }
}

/**
 * Returns the server description of a dialect. Reads the one that the build wrote, so that the first response does not
 * wait for loading tools and schemas. Without a build, or for merged dialects, derives it from the tools.
 */
async function loadDescription(name: DialectConfig['name'], config: Config): Promise<ServerDescription> {
  const description = await contractDescription(name, config);
  return config.annotations === 'honest' ? withHonestAnnotations(description) : description;
}

async function contractDescription(name: DialectConfig['name'], config: Config): Promise<ServerDescription> {
  const isMerged = name === 'workspace' && hasAgentRoot(config);
  const variant = name === 'workspace' && hasHistory(config) ? 'workspace-with-history' : name;
  const built = isMerged ? undefined : builtDescription(variant);
  if (built !== undefined) return JSON.parse(built) as ServerDescription;
  const [{ describeServer }, dialect] = await Promise.all([
    import('../server/description/describe-server.ts'),
    loadDialect(name, config),
  ]);
  return describeServer(dialect);
}

function hasHistory({ roots }: Config): boolean {
  return roots.some(({ history }) => history !== undefined);
}

function hasAgentRoot({ roots }: Config): boolean {
  return roots.some(({ agent }) => agent !== undefined);
}
