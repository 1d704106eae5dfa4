import { RingfenceError } from '../../errors.ts';
import { type CallerPath, parseCallerPath } from '../../fence/index.ts';

/** A drive letter is a path from the top as well, whatever the system. */
const ABSOLUTE = /^(\/|[A-Za-z]:\/)/;

/**
 * A path within the base folder. `\` separates like `/`, so that notes mean the same on every system. Absolute paths
 * are `outside_root`: there is no top to mean but that of the machine.
 */
export function parseStoragePath(raw: string): CallerPath {
  const path = raw.replaceAll('\\', '/');
  try {
    if (ABSOLUTE.test(path)) throw new RingfenceError('outside_root', { resolved: path });
    return { raw, segments: parseCallerPath(path).segments };
  } catch (error) {
    if (error instanceof RingfenceError) error.path = raw;
    throw error;
  }
}
