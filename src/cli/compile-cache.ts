import module from 'node:module';
import os from 'node:os';
import path from 'node:path';

/** Node ≥ 22.8 has this; the types are those of Node 20. */
interface CompileCache {
  enableCompileCache?(folder: string): unknown;
}

/**
 * Keeps compiled code between starts where Node can (≥ 22.8), also that of worker threads. It is kept in the cache folder of the
 * user, because Node's default is below `/tmp`, where other users could put code for us to run. Does nothing if the environment
 * already says where to keep it, or if there is no folder for it.
 */
export function keepCompiledCode(): void {
  const { enableCompileCache } = module as CompileCache;
  if (enableCompileCache === undefined || process.env.NODE_COMPILE_CACHE !== undefined) return;
  const base = cacheFolder();
  if (base === undefined) return;
  const folder = path.join(base, 'ringfence', 'compile-cache');
  enableCompileCache(folder);
  // Worker threads take it from the environment.
  process.env.NODE_COMPILE_CACHE = folder;
}

function cacheFolder(): string | undefined {
  try {
    return process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache');
  } catch {
    // A user without a home directory.
    return undefined;
  }
}
