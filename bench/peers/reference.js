import { fileURLToPath } from 'node:url';
import { StdioClient } from '../clients/stdio.js';

export const REFERENCE = 'reference server';
const SCRIPT = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-filesystem/dist/index.js'));

/** The protocol's own filesystem server, allowed the one folder. */
export function referenceOnStdio(folder) {
  return new StdioClient(process.execPath, [SCRIPT, folder]);
}
