import { RingfenceError } from '../../errors.ts';
import { type CallerPath, parseCallerPath } from '../../fence/index.ts';

/** The folder that the model believes all its files are in. */
export const MEMORY_ROOT = '/memories';

/** A path under `/memories`, which is our root. Anything else, also by way of `..`, is `outside_root`. */
export function parseMemoryPath(raw: string): CallerPath {
  // Models on any system may write `\`; a name with one in it would be a way around a check elsewhere.
  const path = raw.replaceAll('\\', '/');
  try {
    if (!startsInRoot(raw)) throw new RingfenceError('outside_root', { resolved: path });
    return { raw, segments: parseCallerPath(path.slice(MEMORY_ROOT.length)).segments };
  } catch (error) {
    if (error instanceof RingfenceError) error.path = raw;
    throw error;
  }
}

/** True for `/memories` and what is written below it; not for `/memoriesX`. */
export function startsInRoot(raw: string): boolean {
  return raw === MEMORY_ROOT || raw.startsWith(`${MEMORY_ROOT}/`) || raw.startsWith(`${MEMORY_ROOT}\\`);
}
