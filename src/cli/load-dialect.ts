import type { Config, DialectConfig } from '../config/config.ts';
import { builtDescription } from '../config/package-files.ts';
import type { ServerDescription } from '../server/description/server-description.ts';
import { type Dialect, mergeDialects } from '../tools/dialect.ts';

/** A dialect as a config has it. Each is loaded only where it is spoken: a client waits for the start. */
export async function loadDialect(name: DialectConfig['name'], config: Config): Promise<Dialect> {
  switch (name) {
    case 'workspace': {
      const { workspace } = await import('../dialects/workspace/index.ts');
      // Files that a root asks the client for can also be handed over unasked.
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
 * What a server of a dialect says about itself. The build has written that down, so that the first answer waits for neither
 * the tools nor their schemas; without a build, or for a mixture, it is made from them.
 */
export async function descriptionOf(name: DialectConfig['name'], config: Config): Promise<ServerDescription> {
  const built = name === 'workspace' && hasAgentRoot(config) ? undefined : builtDescription(name);
  if (built !== undefined) return JSON.parse(built) as ServerDescription;
  const [{ describeServer }, dialect] = await Promise.all([
    import('../server/description/describe-server.ts'),
    loadDialect(name, config),
  ]);
  return describeServer(dialect);
}

function hasAgentRoot({ roots }: Config): boolean {
  return roots.some(({ agent }) => agent !== undefined);
}

/** Where a dialect is served over HTTP. */
export function mountPath(name: DialectConfig['name']): string {
  return name === 'workspace' ? '/mcp' : `/mcp/${name}`;
}
