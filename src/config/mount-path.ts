import type { DialectName } from './config.ts';

/** Returns the URL path that a dialect is served at over HTTP. */
export function mountPath(name: DialectName): string {
  return name === 'workspace' ? '/mcp' : `/mcp/${name}`;
}
