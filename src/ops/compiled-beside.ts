/** The compiled file beside a module: a worker runs what was compiled, also where the module is run from its source. */
export function compiledBeside(module: string, name: string): URL {
  const file = new URL(name, module);
  if (!module.endsWith('.ts')) return file;
  const sources = new URL('.', import.meta.url).href;
  return new URL(file.href.slice(sources.length), new URL('../../dist/ops/', import.meta.url));
}
