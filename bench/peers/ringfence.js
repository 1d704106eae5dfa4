import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { endChild, startChild } from '../clients/child.js';
import { firstMatch } from '../clients/first-match.js';
import { StdioClient } from '../clients/stdio.js';

const BIN = fileURLToPath(new URL('../../dist/bin.js', import.meta.url));
/** The only root of every config that the benchmark writes. */
export const ROOT = 'bench';

/** Our server on stdio as a person starts it: with a folder and nothing else. */
export function ringfenceOnFolder(folder) {
  return new StdioClient(process.execPath, [BIN, 'stdio', folder]);
}

/** Our server on stdio with a config file. */
export function ringfenceOnStdio(config) {
  return new StdioClient(process.execPath, [BIN, 'stdio', '--config', config]);
}

/** Our server on HTTP at a free port: `{ url, pid, close }`. */
export async function ringfenceOnHttp(config, args = []) {
  const child = startChild(process.execPath, [BIN, 'serve', '--config', config, '--port', '0', ...args]);
  const url = await firstMatch(child, /(http:\/\/\S+)/);
  return { url, pid: child.pid, close: () => endChild(child) };
}

/**
 * Writes a config with `folder` as its root, all else at its default unless `settings`, and `root` for the root, say
 * otherwise. Returns the file.
 */
export function writeConfig(file, folder, settings = {}, root = {}) {
  const roots = [{ name: ROOT, path: path.resolve(folder), allowed_tools: ['*'], ...root }];
  // JSON is YAML.
  fs.writeFileSync(file, JSON.stringify({ host: '127.0.0.1', ...settings, roots }));
  return file;
}
