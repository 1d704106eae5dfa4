import { fileURLToPath } from 'node:url';
import { endChild, startChild } from '../clients/child.js';
import { firstMatch } from '../clients/first-match.js';
import { StdioClient } from '../clients/stdio.js';

export const EMPTY = 'empty SDK server';
const SCRIPT = fileURLToPath(new URL('./empty-server.js', import.meta.url));

export function emptyOnStdio() {
  return new StdioClient(process.execPath, [SCRIPT, 'stdio']);
}

/** `{ url, close }` */
export async function emptyOnHttp() {
  const child = startChild(process.execPath, [SCRIPT, 'http']);
  const url = await firstMatch(child, /(http:\/\/\S+)/);
  return { url, close: () => endChild(child) };
}
