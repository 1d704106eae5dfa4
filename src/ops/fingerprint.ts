import { createHash } from 'node:crypto';
import type { Dir } from '../fence/index.ts';
import { type Control, pacer } from './control.ts';

/**
 * What is in a folder, as two digests: `content` is the same for a true copy, by names, types and sizes; `identity`
 * stays the same only while nobody changes the folder. What was added during a copy would otherwise be removed uncopied.
 */
export async function fingerprint(top: Dir, control: Control): Promise<{ content: string; identity: string }> {
  const pause = pacer(control);
  const content = createHash('sha256');
  const identity = createHash('sha256');
  const visit = async (dir: Dir, depth: number): Promise<void> => {
    for (const { raw, type } of dir.list().sort((a, b) => Buffer.compare(Buffer.from(a.raw), Buffer.from(b.raw)))) {
      await pause();
      const stats = dir.lstat(raw);
      content
        .update(`${depth} ${type} ${type === 'file' ? stats?.size : ''} `)
        .update(raw)
        .update('\0');
      identity
        .update(`${depth} ${stats?.ino} ${stats?.size} ${stats?.mtimeMs} ${stats?.ctimeMs} `)
        .update(raw)
        .update('\0');
      if (type !== 'directory') continue;
      using child = dir.openDir(raw);
      await visit(child, depth + 1);
    }
  };
  await visit(top, 0);
  return { content: content.digest('hex'), identity: identity.digest('hex') };
}
