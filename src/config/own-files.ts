import fs from 'node:fs';
import path from 'node:path';
import { patternOf } from '../fence/index.ts';

/** The descriptor that the log is written to. */
const STDERR = 2;

/**
 * Returns patterns for the files of this program that lie in a folder: its config file, and the file that its log goes
 * to. Whoever could change the first could allow himself everything after the next start.
 */
export function ownFilePatterns(folder: string, configFile: string | undefined): string[] {
  const files = [configFile && path.resolve(configFile), logFile()].filter((file) => file !== undefined && file !== '');
  const spellings = new Set((files as string[]).flatMap((file) => [file, realPath(file)]));
  const tops = new Set([path.resolve(folder), realPath(folder)]);
  return [...spellings].flatMap((file) =>
    [...tops].flatMap((top) => {
      const names = path.relative(top, file).split(path.sep);
      return names[0] === '..' || names[0] === '' || path.isAbsolute(names.join(path.sep)) ? [] : [patternOf(names)];
    }),
  );
}

function realPath(file: string): string {
  try {
    return fs.realpathSync.native(file);
  } catch {
    return path.resolve(file);
  }
}

/**
 * Returns the path of the file that stderr was redirected to; undefined for a terminal or a pipe, and where /proc is
 * missing.
 */
function logFile(): string | undefined {
  try {
    return fs.fstatSync(STDERR).isFile() ? fs.readlinkSync(`/proc/self/fd/${STDERR}`) : undefined;
  } catch {
    return undefined;
  }
}
