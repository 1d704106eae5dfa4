import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { tempDir } from '../../../tests/support/server.ts';

/** Why a small filesystem cannot be mounted here, if it cannot. */
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

/** A filesystem of its own, of that many KiB, mounted on a temporary folder until disposed of. */
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
