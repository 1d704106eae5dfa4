import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { memory } from '../../src/fence/sandbox.fixture.ts';
import { tempDir } from './temp-dir.ts';

interface Filesystem {
  readonly megabytes: number;
  readonly mkfs: readonly string[];
  /** Mount options that keep the file system from writing anything that nobody asked it to flush. */
  readonly options: readonly string[];
}

/** As small as each of them can be made. */
const FILESYSTEMS = {
  ext4: { megabytes: 16, mkfs: ['-q', '-F', '-E', 'lazy_itable_init=0,nodiscard'], options: ['commit=600'] },
  xfs: { megabytes: 300, mkfs: ['-q', '-f', '-K'], options: [] },
  btrfs: { megabytes: 128, mkfs: ['-q', '-f', '-K'], options: ['commit=600'] },
} satisfies Record<string, Filesystem>;

export type FilesystemName = keyof typeof FILESYSTEMS;

/** What a folder holds, by path: folders, files by mode and content, links by target. */
export type DiskState = ReadonlyMap<string, string>;

/** How often an image is copied until nothing is written meanwhile. */
const MAX_COPIES = 50;

/**
 * A file system on a loop device, whose image holds exactly what has been written to the device. What the kernel only keeps in
 * memory is not in there, so a copy of the image is what a power cut would leave. Needs root, loop devices and mkfs.
 */
export class PowerCutDisk implements Disposable {
  /** The folder that it is mounted at. */
  readonly folder: string;
  readonly #filesystem: Filesystem;
  readonly #base: string;
  readonly #image: string;
  #device = '';
  #copies = 0;
  #isMounted = false;

  constructor(name: FilesystemName, extraOptions: readonly string[] = []) {
    this.#filesystem = FILESYSTEMS[name];
    this.#base = tempDir('ringfence-disk-', memory());
    this.folder = path.join(this.#base, 'mounted');
    this.#image = path.join(this.#base, 'image');
    fs.mkdirSync(this.folder);
    fs.closeSync(fs.openSync(this.#image, 'w'));
    fs.truncateSync(this.#image, this.#filesystem.megabytes * 1024 * 1024);
    try {
      run(`mkfs.${name}`, [...this.#filesystem.mkfs, this.#image]);
      this.#mount(this.#image, extraOptions);
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  /** Flushes everything, so that the power cuts to come start from here. */
  flush(): void {
    run('sync', ['-f', this.folder]);
  }

  /** Copies what is on the device at this moment, and returns the copy. Copies again if something is written meanwhile. */
  snapshot(): string {
    const copy = `${this.#image}-${++this.#copies}`;
    for (let left = MAX_COPIES; left > 0; left -= 1) {
      const before = this.#writes();
      run('cp', [this.#image, copy]);
      if (before !== undefined && before === this.#writes()) return copy;
    }
    throw new Error('the device is never quiet');
  }

  /** Returns how many writes the device has completed; undefined while one is under way. See the kernel's block/stat.rst. */
  #writes(): number | undefined {
    const stat = fs
      .readFileSync(`/sys/block/${path.basename(this.#device)}/stat`, 'utf8')
      .trim()
      .split(/\s+/);
    return Number(stat[8]) === 0 ? Number(stat[4]) : undefined;
  }

  /** Takes the disk away, so that its snapshots can be looked at, which have the same identity. */
  unmount(): void {
    if (this.#isMounted) run('umount', [this.folder]);
    this.#isMounted = false;
  }

  /** Mounts a snapshot, by which the file system recovers, and returns what is there. The snapshot is used up. */
  recover(snapshot: string): DiskState {
    this.#mount(snapshot, []);
    try {
      return stateOf(this.folder);
    } finally {
      this.unmount();
      fs.unlinkSync(snapshot);
    }
  }

  [Symbol.dispose](): void {
    this.unmount();
    fs.rmSync(this.#base, { recursive: true });
  }

  #mount(image: string, extraOptions: readonly string[]): void {
    this.#device = run('losetup', ['--find', '--show', image]);
    try {
      run('mount', ['-o', ['rw', ...this.#filesystem.options, ...extraOptions].join(), this.#device, this.folder]);
      this.#isMounted = true;
    } finally {
      // Takes effect when the device is unmounted.
      run('losetup', ['--detach', this.#device]);
    }
  }
}

/** The reason why power cuts cannot be tried on a file system here; undefined if they can. */
export function cannotCutPower(name: FilesystemName): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'needs root on Linux';
  try {
    new PowerCutDisk(name)[Symbol.dispose]();
    return undefined;
  } catch (error) {
    return `needs mkfs.${name} and loop devices: ${(error as Error).message.split('\n').at(0)}`;
  }
}

/** Returns what a folder holds, without temporary files. */
export function stateOf(folder: string): DiskState {
  const state = new Map<string, string>();
  const walk = (names: readonly string[]): void => {
    for (const name of fs.readdirSync(path.join(folder, ...names))) {
      if (name === 'lost+found' || name.startsWith('.ringfence-tmp-')) continue;
      const inner = [...names, name];
      const host = path.join(folder, ...inner);
      const stats = fs.lstatSync(host);
      const mode = (stats.mode & 0o7777).toString(8);
      if (stats.isDirectory()) {
        state.set(inner.join('/'), `folder ${mode}`);
        walk(inner);
      } else {
        const content = stats.isSymbolicLink() ? fs.readlinkSync(host) : fs.readFileSync(host);
        const hash = createHash('sha256').update(content).digest('hex').slice(0, 16);
        state.set(
          inner.join('/'),
          `${stats.isSymbolicLink() ? 'link' : 'file'} ${mode}, ${content.length} bytes, ${hash}`,
        );
      }
    }
  };
  walk([]);
  return state;
}

function run(command: string, args: readonly string[]): string {
  return execFileSync(command, args, { stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' }).trim();
}
