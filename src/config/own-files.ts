import fs from 'node:fs';
import path from 'node:path';
import { patternOf } from '../fence/index.ts';
import type { RootConfig } from './config.ts';

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

/**
 * Checks that a log file does not lie in a root. Which names its older parts will have is not known here, so they could
 * not be hidden from clients. Calls `fail` if it does.
 */
export function checkLogFile(file: string, roots: readonly RootConfig[], fail: (problem: string) => never): string {
  const real = withoutLinks(file);
  for (const { name, path: folder } of roots) {
    if (folder === undefined) continue;
    const isInside = [file, real].some((spelling) => isBelow(spelling, folder) || isBelow(spelling, realPath(folder)));
    if (isInside) fail(`lies in root ${name}, whose clients could read or change it; choose a folder outside`);
  }
  return file;
}

/** Returns where a file is, or would be created: links are followed, also one to nothing. */
function withoutLinks(file: string, hops = 40): string {
  const real = path.join(realPath(path.dirname(file)), path.basename(file));
  const target = hops === 0 ? undefined : linkTarget(real);
  return target === undefined ? real : withoutLinks(path.resolve(path.dirname(real), target), hops - 1);
}

function linkTarget(file: string): string | undefined {
  try {
    return fs.readlinkSync(file);
  } catch {
    return undefined;
  }
}

/** Reports whether a path lies in a folder, or is it, by its names. Both must be absolute. */
export function isBelow(file: string, folder: string): boolean {
  const way = path.relative(folder, file);
  return way !== '..' && !way.startsWith(`..${path.sep}`) && !path.isAbsolute(way);
}

/** Returns a path without links as far as it exists, else as it is. */
export function realPath(file: string): string {
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
