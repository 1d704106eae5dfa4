/** The compiled file beside a module: workers and kernels are run from the build, also where the module runs from its source. */
export function compiledFile(module: string, name: string): URL {
  const file = new URL(name, module);
  if (!module.endsWith('.ts')) return file;
  const sources = new URL('..', import.meta.url).href;
  return new URL(file.href.slice(sources.length), new URL('../../dist/', import.meta.url));
}
