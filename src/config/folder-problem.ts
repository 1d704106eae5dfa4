import fs from 'node:fs';

/** Returns why a host path cannot be a root, and how to fix it; undefined if it is a readable folder. */
export function folderProblem(folder: string): string | undefined {
  try {
    if (!fs.statSync(folder).isDirectory()) return `${folder} is not a folder; a root has to be one`;
    fs.accessSync(folder, fs.constants.R_OK | fs.constants.X_OK);
    return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return `the folder ${folder} does not exist; create it or correct the path`;
    if (code === 'ENOTDIR') return `${folder} does not exist: a part of the path is not a folder; correct the path`;
    if (code === 'EACCES' || code === 'EPERM')
      return `the folder ${folder} cannot be read by this user: permission denied; change its mode or the user`;
    return `the folder ${folder} cannot be opened: ${code ?? 'unknown error'}`;
  }
}
