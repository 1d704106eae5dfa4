import { readFileSync } from 'node:fs';

interface Package {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

/** Reads the version from package.json. */
export function packageVersion(): string {
  return readPackage().version;
}

/** Reads the names of the packages that this one loads from package.json. */
export function packageDependencies(): string[] {
  const { dependencies, optionalDependencies } = readPackage();
  return Object.keys({ ...dependencies, ...optionalDependencies });
}

function readPackage(): Package {
  return JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as Package;
}

/**
 * Reads the server description of a dialect, as JSON, that the build wrote to `dist/descriptions`; undefined without a
 * build.
 */
export function builtDescription(dialect: string): string | undefined {
  try {
    return readFileSync(new URL(`../../descriptions/${dialect}.json`, import.meta.url), 'utf8');
  } catch {
    return undefined;
  }
}

/** A file of the console's page. */
export type ConsoleFile = 'index.html' | 'app.js' | 'app.css' | 'icon.svg';

/** Reads a file of the console's page, which the build wrote to `dist/console`. */
export function consoleFile(name: ConsoleFile): Buffer {
  return readFileSync(new URL(`../../../dist/console/${name}`, import.meta.url));
}
