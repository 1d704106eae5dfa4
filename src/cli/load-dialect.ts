import type { Config, DialectConfig } from '../config/config.ts';
import { builtDescription } from '../config/package-files.ts';
import { type ServerDescription, withHonestAnnotations } from '../server/description/server-description.ts';
import { type Dialect, mergeDialects } from '../tools/dialect.ts';

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
export async function loadDescription(name: DialectConfig['name'], config: Config): Promise<ServerDescription> {
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

/** Returns the URL path that a dialect is served at over HTTP. */
export function mountPath(name: DialectConfig['name']): string {
  return name === 'workspace' ? '/mcp' : `/mcp/${name}`;
}
