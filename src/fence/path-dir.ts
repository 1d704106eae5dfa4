import fs from 'node:fs';
import path from 'node:path';
import { RingfenceError } from '../errors.ts';
import type { HostPath } from './caller-path.ts';
import { assertSingleName, Dir, type Name } from './dir.ts';
import { fromSystem } from './errno.ts';

/**
 * A directory known by its real path (macOS, Windows). Best effort: the path is looked at again before each step and
 * every opened file is compared with what the path leads to, which narrows the moment for a swap but cannot close it.
 */
export class PathDir extends Dir {
  readonly real: HostPath;

  constructor(real: HostPath) {
    super();
    this.real = real;
  }

  protected pathUnconfined(name: Name): HostPath | Buffer {
    assertSingleName(name);
    if (name === '.') return this.real;
    if (typeof name === 'string') return path.join(this.real, name) as HostPath;
    return Buffer.concat([Buffer.from(this.real + path.sep), name]);
  }

  protected override assertInside(): void {
    if (fs.realpathSync.native(this.real) !== this.real) throw new RingfenceError('outside_root', {});
  }

  protected override assertOpened(fd: number, name: Name): void {
    const opened = fs.fstatSync(fd, { bigint: true });
    const named = fs.lstatSync(this.pathUnconfined(name), { bigint: true });
    if (opened.ino !== named.ino || opened.dev !== named.dev) throw new RingfenceError('outside_root', {});
    this.assertInside();
  }

  openDir(name: Name): PathDir {
    try {
      if (!fs.lstatSync(this.pathUnconfined(name)).isDirectory()) throw new RingfenceError('not_directory', {});
      if (name === '.') return new PathDir(this.real);
      // Bytes that are not UTF-8 have no place in a path that is a string, and platforms that need this have no such names.
      if (typeof name !== 'string') throw new RingfenceError('not_found', {});
      // As the disk spells it, since the path is later compared with what realpath says: `SRC` may well name `src`.
      // A folder directly below this path is proof enough that the path itself leads where it did.
      const real = fs.realpathSync.native(this.pathUnconfined(name)) as HostPath;
      if (path.dirname(real) !== this.real) throw new RingfenceError('outside_root', {});
      return new PathDir(real);
    } catch (error) {
      throw fromSystem(error);
    }
  }

  hostPath(): HostPath {
    return this.real;
  }

  [Symbol.dispose](): void {}
}
