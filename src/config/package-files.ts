import { readFileSync } from 'node:fs';

/** Reads the version from package.json. */
export function packageVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/**
 * Reads the server description of a dialect, as JSON, that the build wrote to `dist/descriptions`; undefined without a
 * build.
 */
export function builtDescription(dialect: string): string | undefined {
  try {
    return readFileSync(new URL(`../descriptions/${dialect}.json`, import.meta.url), 'utf8');
  } catch {
    return undefined;
  }
}
