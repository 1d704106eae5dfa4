import { readFileSync } from 'node:fs';

/** The JSON that the build left in `introductions/` for a dialect; undefined where nothing was built. */
export function builtIntroduction(dialect: string): string | undefined {
  try {
    return readFileSync(new URL(`../introductions/${dialect}.json`, import.meta.url), 'utf8');
  } catch {
    return undefined;
  }
}
