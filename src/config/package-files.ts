import { readFileSync } from 'node:fs';

/** The version in package.json, which is the one place where it is written. */
export function packageVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/** The description of a dialect's server that the build left in `dist/descriptions`, as JSON; undefined without a build. */
export function builtDescription(dialect: string): string | undefined {
  try {
    return readFileSync(new URL(`../descriptions/${dialect}.json`, import.meta.url), 'utf8');
  } catch {
    return undefined;
  }
}
