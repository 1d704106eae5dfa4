import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** A folder for attempts, which is removed with all that is in it. */
export class TemporaryFolder implements Disposable {
  readonly path: string;

  constructor() {
    this.path = fs.realpathSync.native(fs.mkdtempSync(path.join(os.tmpdir(), 'ringfence-doctor-')));
  }

  /** Makes a folder in it, and returns its path. */
  folder(name: string): string {
    const made = path.join(this.path, name);
    fs.mkdirSync(made, { recursive: true });
    return made;
  }

  [Symbol.dispose](): void {
    fs.rmSync(this.path, { recursive: true, force: true });
  }
}
