import fs from 'node:fs';
import path from 'node:path';
import type { HostPath } from './caller-path.ts';
import { Dir } from './dir.ts';
import { assertSingleName, type Name } from './entry.ts';
import { fromSystem } from './errno.ts';
import { FenceError } from './errors.ts';
import type { Place } from './guard/place.ts';

/**
 * A directory known by its real path, for the `portable` backend (macOS, Windows). Best effort: the real path is
 * compared before each step, and every opened file is compared with what its name leads to afterwards. That leaves
 * little time for a swap, but some.
 */
export class PathDir extends Dir {
  /** The real path at the time it was opened. */
  readonly real: HostPath;

  constructor(real: HostPath, place: Place) {
    super(place);
    this.real = real;
  }

  protected pathUnconfined(name: Name): HostPath | Buffer {
    assertSingleName(name);
    if (name === '.') return this.real;
    if (typeof name === 'string') return path.join(this.real, name) as HostPath;
    return Buffer.concat([Buffer.from(this.real + path.sep), name]);
  }

  protected override assertInside(): void {
    if (fs.realpathSync.native(this.real) !== this.real) throw new FenceError('outside_root', {});
  }

  protected override assertOpened(fd: number, name: Name): void {
    const opened = fs.fstatSync(fd, { bigint: true });
    // SAFETY: lstat follows no link as the last name, and `assertInside` compares the rest.
    const named = fs.lstatSync(this.pathUnconfined(name), { bigint: true });
    if (opened.ino !== named.ino || opened.dev !== named.dev) throw new FenceError('outside_root', {});
    this.assertInside();
  }

  protected openInner(name: Name, place: Place): PathDir {
    try {
      // SAFETY: lstat follows no link as the last name; the real path is compared below.
      if (!fs.lstatSync(this.pathUnconfined(name)).isDirectory()) throw new FenceError('not_directory', {});
      if (name === '.') return new PathDir(this.real, place);
      // A path that is a string cannot hold bytes that are not UTF-8, and the platforms that need this class have no
      // such names.
      if (typeof name !== 'string') throw new FenceError('not_found', {});
      // The name as the disk spells it, because later checks compare it with what realpath says: `SRC` may name `src`.
      // SAFETY: the result must lie directly below this directory, else it is refused.
      const real = fs.realpathSync.native(this.pathUnconfined(name)) as HostPath;
      if (path.dirname(real) !== this.real) throw new FenceError('outside_root', {});
      this.assertSeen(path.basename(real), true);
      return new PathDir(real, place);
    } catch (error) {
      throw fromSystem(error);
    }
  }

  hostPath(): HostPath {
    return this.real;
  }

  [Symbol.dispose](): void {}
}
