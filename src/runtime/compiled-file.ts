/**
 * Returns the URL of a build artifact (worker entry or WebAssembly kernel) that belongs beside the given module. Also
 * when the module runs from its TypeScript source, the URL points into `dist/`. Does not check that the file exists.
 *
 * `module` is the caller's `import.meta.url`; `name` is relative to it.
 */
export function compiledFile(module: string, name: string): URL {
  const file = new URL(name, module);
  if (!module.endsWith('.ts')) return file;
  const sources = new URL('..', import.meta.url).href;
  return new URL(file.href.slice(sources.length), new URL('../../dist/', import.meta.url));
}
