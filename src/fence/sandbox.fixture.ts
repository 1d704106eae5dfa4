import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe } from 'vitest';
import { RingfenceError } from '../errors.ts';
import { BACKEND_NAMES, type BackendName, chooseBackend, parseCallerPath, Root, type RootPath } from './index.ts';

/**
 * A fresh folder opened as a root, and a folder beside it that nothing may touch. Paths are relative to the root's
 * folder unless a method says otherwise; the plain `fs` calls in here see what the operations really did.
 */
export class Sandbox implements Disposable {
  readonly root: Root;
  /** The host path of the root. */
  readonly inside: string;
  /** The host path of a folder beside the root. */
  readonly outside: string;
  readonly #base: string;
  readonly #opened: Root[] = [];

  constructor(backend: BackendName, under = os.tmpdir()) {
    this.#base = fs.mkdtempSync(path.join(fs.realpathSync(under), 'ringfence-'));
    fs.chmodSync(this.#base, 0o755);
    this.inside = path.join(this.#base, 'inside');
    this.outside = path.join(this.#base, 'outside');
    fs.mkdirSync(this.inside);
    fs.mkdirSync(this.outside);
    fs.writeFileSync(path.join(this.outside, 'secret'), 'secret');
    this.root = this.open('.', backend);
  }

  /** Another root, on a folder in this sandbox. */
  open(folder: string, backend: BackendName, name = 'workspace'): Root {
    const root = Root.open(name, this.host(folder), chooseBackend(backend));
    this.#opened.push(root);
    return root;
  }

  host(...names: string[]): string {
    return path.join(this.inside, ...names);
  }

  at(raw: string, root: Root = this.root): RootPath {
    return { root, path: parseCallerPath(raw) };
  }

  /** Puts a file there, with the folders above it. */
  file(name: string, content: string | Buffer = name, mode = 0o644): string {
    const host = this.host(name);
    fs.mkdirSync(path.dirname(host), { recursive: true });
    fs.writeFileSync(host, content);
    fs.chmodSync(host, mode);
    return host;
  }

  folder(name: string, mode = 0o755): string {
    const host = this.host(name);
    fs.mkdirSync(host, { recursive: true });
    fs.chmodSync(host, mode);
    return host;
  }

  link(target: string, name: string): string {
    const host = this.host(name);
    fs.mkdirSync(path.dirname(host), { recursive: true });
    fs.symlinkSync(target, host);
    return host;
  }

  text(name: string): string {
    return fs.readFileSync(this.host(name), 'utf8');
  }

  exists(name: string): boolean {
    return fs.lstatSync(this.host(name), { throwIfNoEntry: false }) !== undefined;
  }

  mode(name: string): string {
    return (fs.lstatSync(this.host(name)).mode & 0o7777).toString(8);
  }

  /** Every entry below, temporary ones too: folders end in `/`, links show where they lead. */
  tree(name = '.'): string[] {
    return treeOf(this.host(name));
  }

  [Symbol.dispose](): void {
    for (const root of this.#opened) root[Symbol.dispose]();
    fs.rmSync(this.#base, { recursive: true, force: true });
  }
}

export function treeOf(host: string): string[] {
  const found: string[] = [];
  const walk = (folder: string, prefix: string) => {
    for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
      const name = prefix + entry.name;
      if (entry.isDirectory()) {
        found.push(`${name}/`);
        walk(path.join(folder, entry.name), `${name}/`);
      } else if (entry.isSymbolicLink()) {
        found.push(`${name} -> ${fs.readlinkSync(path.join(folder, entry.name))}`);
      } else found.push(name);
    }
  };
  walk(host, '');
  return found.sort();
}

/** A folder in memory where there is one, for tests that make many thousand files. */
export function memory(): string {
  return fs.existsSync('/dev/shm') ? '/dev/shm' : os.tmpdir();
}

/** Runs a group of tests once per backend. */
export function onEveryBackend(tests: (open: () => Sandbox, backend: BackendName) => void): void {
  describe.each(BACKEND_NAMES)('%s', (backend) => tests(() => new Sandbox(backend), backend));
}

/** The code that work failed with, or `ok`. Anything but our own error is thrown on. */
export async function outcome(work: unknown): Promise<string> {
  try {
    await (typeof work === 'function' ? work() : work);
    return 'ok';
  } catch (error) {
    if (error instanceof RingfenceError) return error.code;
    throw error;
  }
}
