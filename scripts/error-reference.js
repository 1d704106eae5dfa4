// Makes the reference of errors from the examples and the wording of each dialect.
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ERROR_EXAMPLES } from './error-examples.js';

const cell = (text) => String(text).replaceAll('|', '\\|').replaceAll('\n', ' ');
const table = (heads, rows) =>
  [heads, heads.map(() => '---'), ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n');
const code = (name) => `\`${name}\``;

/** The tool that a code is most likely to come from, where its wording depends on it. */
const TOOLS = {
  workspace: {
    already_exists: 'write_file',
    not_directory: 'list_folder',
    text_not_found: 'edit_file',
    is_directory: 'read_file',
  },
  memory: { already_exists: 'create', not_empty: 'delete', text_not_found: 'str_replace', line_out_of_range: 'insert' },
  classic: {
    already_exists: 'write',
    not_empty: 'delete',
    root_itself: 'delete',
    same_file: 'copy',
    into_itself: 'copy',
  },
  guide: {},
};
const USUAL = { workspace: 'read_file', memory: 'view', classic: 'read', guide: 'guide_cache_file' };

/** Returns what a dialect says for each code that its tools can raise. */
async function wordings(dist, name) {
  const { [name]: dialect } = await import(pathToFileURL(path.join(dist, `dialects/${name}/index.js`)).href);
  const { RingfenceError } = await import(pathToFileURL(path.join(dist, 'errors.js')).href);
  class AnyError extends RingfenceError {}
  const say = (which) => {
    const tool = { name: TOOLS[name][which] ?? USUAL[name] };
    const path = which === 'outside_root' ? '../../etc/passwd' : 'src/main.go';
    const error = new AnyError(which, ERROR_EXAMPLES[which].details, { path, root: 'workspace' });
    return dialect.formatError(error, { tool, args: { root: 'workspace', path } });
  };
  const unraised = new Set([say('internal')]);
  return Object.keys(ERROR_EXAMPLES)
    .map((which) => [which, say(which)])
    .filter(([which, text]) => which === 'internal' || !(unraised.has(text) || text.includes('"error":"Failed: ')));
}

/** Returns the generated sections of docs/errors.md. `dist` is where the code was built to. */
export async function errorReference(dist) {
  const of = (name) => wordings(dist, name);
  const meanings = Object.entries(ERROR_EXAMPLES).map(([which, { means, todo }]) => [code(which), means, todo]);
  const workspace = (await of('workspace')).map(([which, text]) => [code(which), text]);
  const memory = (await of('memory')).map(([which, text]) => {
    const body = JSON.parse(text);
    return [code(which), code(body.code), body.message];
  });
  const classic = (await of('classic')).map(([which, text]) => {
    const { error } = JSON.parse(text);
    return [code(which), code(error.code), error.message, error.details.reason ?? ''];
  });
  const guide = (await of('guide')).map(([which, text]) => {
    const body = JSON.parse(text);
    return [code(which), code(body.error_type), body.error, body.instruction];
  });
  return {
    meanings: table(['code', 'what it means', 'what to do'], meanings),
    workspace: table(['code', 'for example'], workspace),
    memory: table(['code', '`code` for the client', '`message`, for example'], memory),
    classic: table(['code', '`code` for the client', '`message`, for example', '`details.reason`'], classic),
    guide: table(['code', '`error_type`', '`error`, for example', '`instruction`'], guide),
  };
}
