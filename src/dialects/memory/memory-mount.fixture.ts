import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { tempDir } from '../../../tests/support/temp-dir.ts';

/** Why this process cannot mount a filesystem; undefined if it can. */
export const cannotMount: string | undefined = reasonAgainst();

function reasonAgainst(): string | undefined {
  if (process.platform !== 'linux') return 'needs Linux';
  if (process.getuid?.() !== 0) return 'needs to run as root';
  try {
    using _probe = mountSmall(16);
    return undefined;
  } catch {
    return 'needs the right to mount';
  }
}

/** Mounts a tmpfs of that many KiB on a temporary folder until it is disposed. */
export function mountSmall(kibibytes: number): Disposable & { readonly folder: string } {
  const folder = tempDir('ringfence-small-');
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${kibibytes}k`, 'tmpfs', folder], { stdio: 'pipe' });
  } catch (error) {
    fs.rmdirSync(folder);
    throw error;
  }
  return {
    folder,
    [Symbol.dispose]: () => {
      execFileSync('umount', ['--lazy', folder]);
      fs.rmdirSync(folder);
    },
  };
}
