import fs from 'node:fs';
import { errnoOf } from './errno.ts';

/**
 * Closes a descriptor through which nothing was written, or that is closed because something else has failed, and
 * ignores what the file system says about it. File systems in user space, such as GlusterFS, fail to close a file that
 * was replaced on another machine (`ESTALE`, `ENOENT`); the kernel frees the descriptor all the same. Throws a system
 * error only if the descriptor is not open, which is a bug: its number may be another file's.
 */
export function closeQuietly(fd: number): void {
  try {
    fs.closeSync(fd);
  } catch (error) {
    if (errnoOf(error) === 'EBADF') throw error;
  }
}
