import { readFileSync } from 'node:fs';

/** The JSON that the build left in `descriptions/` for a dialect; undefined where nothing was built. */
export function builtDescription(dialect: string): string | undefined {
  try {
    return readFileSync(new URL(`../descriptions/${dialect}.json`, import.meta.url), 'utf8');
  } catch {
    return undefined;
  }
}
