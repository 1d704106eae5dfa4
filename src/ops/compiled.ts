/**
 * The compiled form of a file of ours, for a thread to run, also where this is run from its source. It lies beside this
 * module's folder; so does what this module is put together into by the build.
 */
export function compiled(name: string): URL {
  const top = import.meta.url.endsWith('.ts') ? '../../dist/' : '../';
  return new URL(top + name, import.meta.url);
}
