import type { DirEntry } from './kept-entries.ts';

/**
 * Copies a file or a link to keep it, where the file system has no hard links or does not allow one to this file. The
 * copy has the same content, mode and time of modification.
 */
export async function copyToKeep({ dir, name }: DirEntry, to: DirEntry): Promise<void> {
  if (dir.lstat(name)?.isSymbolicLink()) {
    to.dir.symlink(dir.readlinkBytes(name), to.name);
    return;
  }
  using source = dir.openFile(name);
  const mtimeNs = source.mtimeNs();
  {
    using copy = to.dir.createFile(to.name, 0o600);
    await copy.copyFrom(source);
    copy.chmod(source.stats.mode & 0o7777);
  }
  to.dir.setMtime(to.name, mtimeNs);
}
