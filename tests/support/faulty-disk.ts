import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { tempDir } from './temp-dir.ts';

const IMAGE_BYTES = 16 * 1024 * 1024;

/** A mounted file system. Dispose of it to unmount it and to remove everything. */
export interface FaultyDisk extends Disposable {
  /** Where it is mounted. */
  readonly folder: string;
}

function run(command: string, ...args: string[]): void {
  const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error((stderr || error?.message || `${command} failed`).trim());
}

/** Mounts a tmpfs, by default of 1 MB. */
export function mountTmpfs(options = 'size=1m'): FaultyDisk {
  const folder = tempDir('ringfence-disk-');
  run('mount', '-t', 'tmpfs', '-o', options, 'none', folder);
  return {
    folder,
    [Symbol.dispose]: () => {
      spawnSync('umount', ['-l', folder]);
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** An ext4 file system on a loop device, whose image can be damaged while it is mounted. */
export interface LoopDisk extends FaultyDisk {
  /** Cuts the image off: blocks beyond this size cannot be read any more (EIO). */
  truncate(bytes: number): void;
  /** Unmounts the disk and mounts it again, so that nothing of it is cached. */
  remount(): void;
}

/** Mounts an ext4 file system whose image is in a folder, by default one of its own. If that is full, writes fail later (EIO). */
export function mountLoop(imageFolder = tempDir('ringfence-image-')): LoopDisk {
  const image = path.join(imageFolder, 'disk.img');
  const folder = tempDir('ringfence-disk-');
  const mount = (): void => run('mount', '-o', 'loop,errors=continue', image, folder);
  fs.writeFileSync(image, '');
  fs.truncateSync(image, IMAGE_BYTES);
  // Without a journal, whose failure would make the whole file system read-only.
  run('mkfs.ext4', '-q', '-O', '^has_journal', '-E', 'lazy_itable_init=1,nodiscard', image);
  mount();
  return {
    folder,
    truncate: (bytes) => fs.truncateSync(image, bytes),
    remount: () => {
      run('umount', folder);
      mount();
    },
    [Symbol.dispose]: () => {
      spawnSync('umount', ['-l', folder]);
      fs.rmSync(folder, { recursive: true, force: true });
      fs.rmSync(image, { force: true });
    },
  };
}

/** Returns why a disk cannot be mounted here; undefined if it can. */
export function cannotMountDisk(mount: () => Disposable): string | undefined {
  try {
    using _disk = mount();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
