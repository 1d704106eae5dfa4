import fs from 'node:fs';

/** Makes a folder of this machine, and those above it, unless it is there. Throws a system error where that fails. */
export function ensureFolder(hostPath: string): void {
  fs.mkdirSync(hostPath, { recursive: true, mode: 0o700 });
}
