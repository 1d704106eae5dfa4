import fs from 'node:fs';
import path from 'node:path';
import type { Backend } from './backend.ts';
import { closeQuietly } from './close-quietly.ts';

/** What the file system of a folder can do, as far as it is used. Undefined for what this backend cannot call. */
export interface FileSystemFeatures {
  /** A number of statfs(2) that tells the kind of file system, in hex. */
  readonly kind: string;
  /** Renaming without replacing anything, in one step (`RENAME_NOREPLACE`). */
  readonly renameNoReplace: boolean | undefined;
  /** Exchanging two entries in one step (`RENAME_EXCHANGE`). */
  readonly renameExchange: boolean | undefined;
  /** Locks that processes take on folders (flock). */
  readonly locks: boolean | undefined;
  /** Marks by which processes see that a file is in use (open file description locks). */
  readonly useMarks: boolean | undefined;
  readonly hardLinks: boolean;
  readonly symbolicLinks: boolean;
  /** Whether it is known when a file was made. */
  readonly birthTime: boolean;
}

/** Tries what the file system of an empty folder of the host can do. Leaves files in it. */
export function probeFeatures(backend: Backend, folder: string): FileSystemFeatures {
  const { syscalls } = backend;
  const at = (name: string): string => path.join(folder, name);
  for (const name of ['a', 'b', 'c']) fs.writeFileSync(at(name), name);
  const dir = fs.openSync(folder, fs.constants.O_RDONLY | (fs.constants.O_DIRECTORY ?? 0));
  try {
    // SAFETY: fixed names in a folder that was made for this.
    const renameNoReplace = syscalls?.renameNoReplaceUnconfined(dir, 'a', dir, 'new');
    // SAFETY: fixed names in a folder that was made for this.
    const renameExchange = syscalls?.exchangeUnconfined(dir, 'b', 'c');
    return {
      kind: fs.statfsSync(folder).type.toString(16),
      // A file system that ignores the flag would have replaced the other file.
      // SAFETY: fixed names in a folder that was made for this.
      renameNoReplace: renameNoReplace && !syscalls?.renameNoReplaceUnconfined(dir, 'new', dir, 'b'),
      renameExchange: renameExchange && fs.readFileSync(at('b'), 'utf8') === 'c',
      locks: syscalls && syscalls.flock(dir) === 'held',
      useMarks: syscalls && marksUse(syscalls, at('c')),
      hardLinks: succeeds(() => fs.linkSync(at('b'), at('hard'))),
      symbolicLinks: succeeds(() => fs.symlinkSync('b', at('soft'))),
      birthTime: fs.statSync(at('b'), { bigint: true }).birthtimeNs > 0n,
    };
  } finally {
    closeQuietly(dir);
  }
}

function marksUse(syscalls: NonNullable<Backend['syscalls']>, file: string): boolean {
  const [marked, other] = [fs.openSync(file, 'r+'), fs.openSync(file, 'r+')];
  try {
    syscalls.markInUse(marked);
    return syscalls.isInUse(other) === true;
  } finally {
    closeQuietly(marked);
    closeQuietly(other);
  }
}

function succeeds(attempt: () => void): boolean {
  try {
    attempt();
    return true;
  } catch {
    return false;
  }
}
