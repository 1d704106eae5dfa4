// Loaded into ringfence with --require: the kernel says that it confines a thread, and does not.
const Module = require('node:module');

const RESTRICT_SELF = 446;
const load = Module._load;
Module._load = (request, ...rest) => {
  const loaded = load(request, ...rest);
  return request.startsWith('@koromix/') ? { ...loaded, load: (name) => withoutEffect(loaded.load(name)) } : loaded;
};

function withoutEffect(library) {
  const func = (declaration) => {
    const call = library.func(declaration);
    if (!declaration.includes('int ruleset, uint32_t flags')) return call;
    const fake = (number, ...args) => (number === RESTRICT_SELF ? 0 : call(number, ...args));
    fake.async = (number, ...args) =>
      number === RESTRICT_SELF ? setImmediate(() => args.at(-1)(null, 0)) : call.async(number, ...args);
    return fake;
  };
  return { func };
}
