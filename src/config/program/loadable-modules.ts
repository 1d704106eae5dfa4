import { closeSync, existsSync, openSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { devNull } from 'node:os';
import { fileURLToPath } from 'node:url';

/** As many descriptors as Node has open at the same time while it loads all modules of a dialect and of the SDK. */
const DESCRIPTORS = 112;

/** Says that modules cannot be loaded at the moment. Clients see the message, as that of a JSON-RPC error. */
export class NotLoadableError extends Error {
  override readonly name = 'NotLoadableError';
  readonly code = -32603;

  constructor(reason: string) {
    super(`the tools cannot be loaded at the moment: ${reason}; try again`);
  }
}

/**
 * Imports modules after the start. Raises `NotLoadableError`, and imports nothing, if a module of this package could not
 * be loaded now: too few descriptors are left, or its files are being replaced. Node remembers for good that a module
 * could not be loaded, also for a module that the imported one imports, so the import must not be tried before it will
 * succeed. Await nothing but imports in `load`: the files may be replaced meanwhile.
 */
export async function importWhenLoadable<T>(load: () => Promise<T>): Promise<T> {
  assertLoadable();
  return load();
}

function assertLoadable(): void {
  assertDescriptors();
  const dist = fileURLToPath(new URL('../../', import.meta.url));
  let sizes: Readonly<Record<string, number>>;
  try {
    sizes = JSON.parse(readFileSync(`${dist}modules.json`, 'utf8')) as Record<string, number>;
  } catch {
    // Not built: then this runs from the sources, which are loaded by other means.
    if (import.meta.url.endsWith('.ts')) return;
    throw new NotLoadableError('files of the program are missing');
  }
  const { dependencies } = JSON.parse(readFileSync(`${dist}../package.json`, 'utf8')) as Package;
  const isComplete =
    Object.entries(sizes).every(([file, size]) => statSync(dist + file, { throwIfNoEntry: false })?.size === size) &&
    Object.keys(dependencies).every(isInstalled);
  if (!isComplete) throw new NotLoadableError('files of the program are missing or being replaced');
}

interface Package {
  readonly dependencies: Readonly<Record<string, string>>;
}

function isInstalled(dependency: string): boolean {
  const folders = createRequire(import.meta.url).resolve.paths(dependency) ?? [];
  return folders.some((folder) => existsSync(`${folder}/${dependency}/package.json`));
}

function assertDescriptors(): void {
  const opened: number[] = [];
  try {
    while (opened.length < DESCRIPTORS) opened.push(openSync(devNull, 'r'));
  } catch {
    throw new NotLoadableError(`too few file descriptors are left (${opened.length} of the ${DESCRIPTORS} it takes)`);
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}
