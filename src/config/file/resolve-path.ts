import os from 'node:os';
import path from 'node:path';
import type { Fail } from '../config-error.ts';
import { folderProblem } from '../folder-problem.ts';

/** What paths in a config file are relative to, which variables they may name, and how to report a problem. */
export interface Surroundings {
  readonly base: string;
  readonly env: NodeJS.ProcessEnv;
  readonly fail: Fail;
}

/** Returns the absolute path that is meant by the value of a key. Calls `fail` as `expandPath` does, with that key. */
export function resolvePath(written: string, key: string, { base, env, fail }: Surroundings): string {
  return path.resolve(
    base,
    expandPath(written, env, (what) => fail(`${key}: ${what}`)),
  );
}

/** Returns the absolute path of the folder that is meant by the value of a key. Calls `fail` if it cannot be a root. */
export function resolveFolder(written: string, key: string, surroundings: Surroundings): string {
  const folder = resolvePath(written, key, surroundings);
  const problem = folderProblem(folder);
  if (problem !== undefined) surroundings.fail(`${key}: ${problem}`);
  return folder;
}

/**
 * Expands a leading `~` to the home folder and each `${NAME}` to an environment variable, in a path of the config. Calls
 * `fail` for a variable that is not set, or empty: the path would then be another one than the operator meant.
 */
export function expandPath(written: string, env: NodeJS.ProcessEnv, fail: Fail): string {
  const filled = written.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => {
    return env[name] || fail(`the environment variable ${name} is not set`);
  });
  return filled.replace(/^~(?=$|[/\\])/, () => env.HOME || os.homedir());
}
