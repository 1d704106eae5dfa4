// Loaded into ringfence with --require: koffi is not installed.
const Module = require('node:module');

const load = Module._load;
Module._load = (request, ...rest) => {
  if (request.startsWith('@koromix/')) throw Object.assign(new Error('not installed'), { code: 'MODULE_NOT_FOUND' });
  return load(request, ...rest);
};
