import type { DialectConfig } from '../config/index.ts';
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

/** Where a dialect is served over HTTP. */
export function mountPath(name: DialectConfig['name']): string {
  return name === 'workspace' ? '/mcp' : `/mcp/${name}`;
}
