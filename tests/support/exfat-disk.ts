import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { tempDir } from './temp-dir.ts';

/** A mounted exFAT file system. Dispose of it to unmount it and to remove everything. */
export interface ExfatDisk extends Disposable {
  /** Where it is mounted. */
  readonly folder: string;
}

/**
 * Mounts a file system that does not tell apart names that differ by case, and that has neither links nor modes. Throws
 * where that cannot be done.
 */
export function mountExfat(): ExfatDisk {
  const base = tempDir('ringfence-exfat-');
  const [image, folder] = [path.join(base, 'image'), path.join(base, 'mount')];
  fs.mkdirSync(folder);
  fs.writeFileSync(image, '');
  fs.truncateSync(image, 16 * 1024 * 1024);
  let device: string | undefined;
  const run = (command: string, ...args: string[]): string =>
    execFileSync(command, args, { stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' }).trim();
  const end = (): void => {
    if (device !== undefined) run('losetup', '-d', device);
    fs.rmSync(base, { recursive: true });
  };
  try {
    run('mkfs.exfat', image);
    device = run('losetup', '-f', '--show', image);
    run('mount.exfat-fuse', device, folder);
  } catch (error) {
    end();
    throw error;
  }
  return {
    folder,
    [Symbol.dispose]() {
      run('umount', folder);
      end();
    },
  };
}

/** The reason why `mountExfat` does not work here; undefined if it does. */
export const cannotMountExfat: string | undefined = (() => {
  try {
    using _probe = mountExfat();
    return undefined;
  } catch {
    return 'needs root, loop devices, exfat-fuse and exfatprogs';
  }
})();
