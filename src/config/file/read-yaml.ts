import fs from 'node:fs';
import { ConfigError, type Fail } from '../config-error.ts';

/** Reads a YAML file as the value that it describes. Calls `fail` if it cannot be read, is not valid or is empty. */
export async function readYaml(file: string, fail: Fail): Promise<unknown> {
  return parseYaml(readText(file, fail), fail);
}

function readText(file: string, fail: Fail): string {
  try {
    const bytes = fs.readFileSync(file);
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return fail('no such config file; give the path of an existing one to --config');
    if (code === 'EISDIR') return fail('is a folder, not a config file; to serve a folder give it without --config');
    if (code === 'EACCES' || code === 'EPERM') return fail('the config file cannot be read: permission denied');
    if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA')
      return fail('the config file is not UTF-8 text; save it as UTF-8');
    return fail(`the config file cannot be read: ${code ?? 'unknown error'}`);
  }
}

async function parseYaml(text: string, fail: Fail): Promise<unknown> {
  // Loaded only here: a start without a config file does not need the parser.
  const { parseDocument } = await import('yaml');
  const document = parseDocument(text, { prettyErrors: true });
  const [error] = document.errors;
  if (error !== undefined) {
    const line = error.linePos?.[0].line;
    const summary = error.message.split(/ at line \d+|\n/)[0] ?? 'syntax error';
    return fail(`not valid YAML${line === undefined ? '' : `, line ${line}`}: ${summary}`);
  }
  try {
    const value: unknown = document.toJS();
    return value ?? fail('the config is empty; it needs at least the key roots');
  } catch (cause) {
    if (cause instanceof ConfigError) throw cause;
    return fail(`not valid YAML: ${(cause as Error).message}`);
  }
}
