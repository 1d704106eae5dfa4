import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { CommandError } from '../terminal/command-error.ts';

/** A config file of another program, as it was when it was read. */
export interface ClientFile {
  /** Where it is, links followed. */
  readonly path: string;
  /** Undefined if there is no such file. */
  readonly content: Buffer | undefined;
}

/** Reads a config file. Raises `CommandError` if it is no regular file or cannot be read. */
export function readClientFile(file: string): ClientFile {
  return explained(file, () => {
    const link = fs.lstatSync(file, { throwIfNoEntry: false });
    if (link === undefined) return { path: file, content: undefined };
    if (link.isSymbolicLink() && !fs.existsSync(file))
      throw new CommandError(`${file} is a link to a file that does not exist; remove the link or create the file`);
    const target = fs.realpathSync(file);
    if (!fs.statSync(target).isFile()) throw new CommandError(`${file} is not a file; nothing was changed`);
    return { path: target, content: fs.readFileSync(target) };
  });
}

/**
 * Replaces a file atomically. It keeps mode and owner of `like`; a new one is for its owner only. Raises `CommandError`
 * if the file is no longer as it was read.
 */
export function writeClientFile(file: ClientFile, content: Buffer, like: string = file.path): void {
  explained(file.path, () => {
    const temporary = `${file.path}.${randomBytes(6).toString('hex')}.tmp`;
    const descriptor = fs.openSync(temporary, 'wx', 0o600);
    try {
      try {
        fs.writeFileSync(descriptor, content);
        copyRights(descriptor, like);
        fs.fsyncSync(descriptor);
      } finally {
        fs.closeSync(descriptor);
      }
      const now = fs.existsSync(file.path) ? fs.readFileSync(file.path) : undefined;
      if (!(now === undefined ? file.content === undefined : file.content?.equals(now)))
        throw new CommandError(`${file.path} was changed by another program just now; run the command again`);
      fs.renameSync(temporary, file.path);
    } catch (error) {
      fs.rmSync(temporary, { force: true });
      throw error;
    }
  });
}

/** Removes a file if it is there. */
export function removeClientFile(file: string): void {
  explained(file, () => fs.rmSync(file, { force: true }));
}

/** Creates the folder of a config file. Raises `CommandError` if `base`, which the user must have, is missing. */
export function makeClientFolder(file: string, base: string): void {
  if (!fs.existsSync(base)) throw new CommandError(`the folder ${base} does not exist; create it first`);
  explained(file, () => fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 }));
}

/** Reports whether a folder exists and something is in it. */
export function isFolderInUse(folder: string): boolean {
  try {
    return fs.readdirSync(folder).length > 0;
  } catch {
    return false;
  }
}

/** Writes a new file for everyone to read. Raises `CommandError` if it exists. */
export function createFile(file: string, text: string): void {
  explained(file, () => fs.writeFileSync(file, text, { flag: 'wx' }));
}

/** Gives an open file the owner and mode of another. If the owner cannot be given, it stays closed to everyone else. */
function copyRights(descriptor: number, like: string): void {
  const rights = fs.statSync(like, { throwIfNoEntry: false });
  if (rights === undefined || process.platform === 'win32') return;
  const own = fs.fstatSync(descriptor);
  try {
    if (own.uid !== rights.uid || own.gid !== rights.gid) fs.fchownSync(descriptor, rights.uid, rights.gid);
  } catch {
    return;
  }
  fs.fchmodSync(descriptor, rights.mode & 0o777);
}

function explained<T>(file: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (error instanceof CommandError || code === undefined) throw error;
    if (code === 'EEXIST') throw new CommandError(`${file} exists; edit it, or remove it to start anew`);
    if (code === 'EACCES' || code === 'EPERM')
      throw new CommandError(`${file} cannot be read or written by this user: permission denied; nothing was changed`);
    throw new CommandError(`${file} cannot be read or written: ${code}; nothing was changed`);
  }
}
