import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** Creates a temporary folder. Its path holds no symbolic link, so that it can be compared with resolved paths. */
export function tempDir(prefix = 'ringfence-', under = os.tmpdir()): string {
  return fs.mkdtempSync(path.join(fs.realpathSync(under), prefix));
}
