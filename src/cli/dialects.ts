import type { DialectConfig } from '../config/index.ts';
import { builtIntroduction } from '../config/index.ts';
import type { Introduction } from '../server/introduction.ts';
import type { Dialect } from '../tools/dialect.ts';

/** A dialect by its name. Each is loaded only where it is spoken: a client waits for the start. */
export async function loadDialect(name: DialectConfig['name']): Promise<Dialect> {
  switch (name) {
    case 'workspace':
      return (await import('../dialects/workspace/index.ts')).workspace;
    case 'memory':
      return (await import('../dialects/memory/index.ts')).memory;
    case 'classic':
      return (await import('../dialects/classic/index.ts')).classic;
  }
}

/**
 * What a server of a dialect says about itself. The build has written that down, so that the first answer waits for neither
 * the tools nor their schemas; without a build it is made from them.
 */
export async function introductionOf(name: DialectConfig['name']): Promise<Introduction> {
  const built = builtIntroduction(name);
  if (built !== undefined) return JSON.parse(built) as Introduction;
  const [{ introduce }, dialect] = await Promise.all([import('../server/introduction.ts'), loadDialect(name)]);
  return introduce(dialect);
}

/** Where a dialect is served over HTTP. */
export function mountPath(name: DialectConfig['name']): string {
  return name === 'workspace' ? '/mcp' : `/mcp/${name}`;
}
