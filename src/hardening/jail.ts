import fs from 'node:fs';
import { isBelow, realPath } from '../config/own-files.ts';
import type { LandlockPolicy, PathRule } from './landlock.ts';

/**
 * Reports whether the kernel lets a process that is restricted to a policy use a folder. That cannot be changed any
 * more, and it is about the folders of the start: one that was made anew under the same name is another.
 */
export function isAdmitted({ path, access }: PathRule, { paths }: LandlockPolicy): boolean {
  const folder = realPath(path);
  const isGranted = (given: PathRule['access']): boolean =>
    given === 'write' || (given === 'read' && access === 'read');
  if (!paths.some((rule) => isGranted(rule.access) && isBelow(folder, realPath(rule.path)))) return false;
  try {
    fs.opendirSync(folder).closeSync();
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code !== 'EACCES' && code !== 'EPERM';
  }
}

/** Reports whether the user of this process may read a file, but the process may not. */
export function isKeptFrom(file: string): boolean {
  try {
    fs.accessSync(file, fs.constants.R_OK);
    fs.closeSync(fs.openSync(file, 'r'));
    return false;
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    return syscall === 'open' && code === 'EACCES';
  }
}
