import path from 'node:path';
import { ConfigError } from '../../config/config-error.ts';
import { fenceFromEnvironment } from '../../config/fence-from-environment.ts';
import { fakeSecrets } from '../../config/file/fake-secrets.ts';
import { loadConfig } from '../../config/file/load-config.ts';
import { folderProblem } from '../../config/folder-problem.ts';
import { isFenceError, Root } from '../../fence/index.ts';
import { HISTORY_FOLDER, History, type HistoryOptions } from '../../history/index.ts';
import { didYouMean } from '../../tools/nearest.ts';
import { CommandError } from '../terminal/command-error.ts';
import { parsePath, parseRootArgument, type RootArgument } from './root-argument.ts';

/** The history of a root that a command is about. */
export interface Target {
  /** How the root is written on the command line: its name, or its folder. */
  readonly name: string;
  readonly root: Root;
  readonly history: History;
  /** What the command is limited to, from the top of the root; undefined for all of it. */
  readonly path: string | undefined;
  /** Whether changes are flushed to disk. */
  readonly durable: boolean;
}

/** The roots that a command is about. Dispose of them after use. */
export interface Targets extends Disposable {
  /** At least one. */
  readonly all: readonly Target[];
  /** What else to write on a command line that is about the same roots: ` --config FILE`, or nothing. */
  readonly suffix: string;
}

interface KnownRoot {
  readonly name: string;
  readonly folder: string;
  readonly options?: HistoryOptions | undefined;
}

/**
 * Opens the histories that a command is about: of one root, given as `ROOT[:PATH]`, of all roots of the config that
 * have a history, or of the current folder. With `begin`, a history that has not begun is begun: that of a folder that
 * was named, or as the config says. Raises `ConfigError` and `CommandError`.
 */
export async function openTargets(
  written: string | undefined,
  configFile: string | undefined,
  { begin = false }: { readonly begin?: boolean } = {},
): Promise<Targets> {
  const config = configFile === undefined ? undefined : await loadConfig(configFile, process.env, fakeSecrets());
  const known = config?.roots.flatMap((root) =>
    root.path === undefined ? [] : [{ name: root.name, folder: root.path, options: root.history }],
  );
  const { roots, path: limit } = known === undefined ? oneFolder(written ?? '.') : configured(written, known);
  const opened: Disposable[] = [];
  const close = (): void => {
    for (const each of opened.reverse()) each[Symbol.dispose]();
  };
  try {
    const all = roots.flatMap((root): Target[] => {
      const mayBegin = begin && (config === undefined ? written !== undefined : root.options !== undefined);
      const found = openHistory(root, opened, mayBegin);
      return found === undefined ? [] : [{ ...found, path: limit, durable: config?.durableWrites ?? true }];
    });
    if (all.length === 0) throw new CommandError(noHistory(roots, configFile));
    return { all, suffix: configFile === undefined ? '' : ` --config ${configFile}`, [Symbol.dispose]: close };
  } catch (error) {
    close();
    throw error;
  }
}

function openHistory(
  { name, folder, options }: KnownRoot,
  opened: Disposable[],
  mayBegin: boolean,
): Pick<Target, 'name' | 'root' | 'history'> | undefined {
  const root = Root.open(name, folder, fenceFromEnvironment());
  opened.push(root);
  try {
    // Opening a history would make one.
    if (!mayBegin && root.top.lstat(HISTORY_FOLDER) === undefined) return undefined;
    const history = History.open(root, options);
    opened.push(history);
    return { name, root, history };
  } catch (error) {
    if (!isFenceError(error, 'permission_denied', 'not_directory')) throw error;
    throw new CommandError(`${name}: its history belongs to another user; run this as the user that runs the server`);
  }
}

function configured(
  written: string | undefined,
  known: readonly KnownRoot[],
): { roots: KnownRoot[]; path: string | undefined } {
  if (written === undefined) return { roots: [...known], path: undefined };
  const names = known.map(({ name }) => name);
  const found = parseRootArgument(written, (name) => names.includes(name));
  const root = known.find(({ name }) => name === found?.root);
  if (found !== undefined && root !== undefined) return { roots: [root], path: pathIn(found) };
  const [name = ''] = written.split(':');
  throw new ConfigError(
    `unknown root "${name}"${didYouMean(name, names)}; the config has ${names.join(', ') || 'no folder'}`,
  );
}

function oneFolder(written: string): { roots: KnownRoot[]; path: string | undefined } {
  const found = parseRootArgument(written, (folder) => folderProblem(path.resolve(folder)) === undefined);
  if (found !== undefined) {
    return { roots: [{ name: found.root, folder: path.resolve(found.root) }], path: pathIn(found) };
  }
  const [folder = ''] = written.split(':');
  const problem = folder === '' ? 'an empty path names no folder' : folderProblem(path.resolve(folder));
  throw new ConfigError(`${problem}; for the name of a root give its config with --config FILE`);
}

/** Returns what a command is limited to; undefined for the whole root. */
function pathIn({ root, path: written }: RootArgument): string | undefined {
  const parsed = parsePath(written ?? '');
  if (parsed === undefined)
    throw new ConfigError(`${root}:${written}: not a path in this root; give it from the top of the root`);
  return parsed === '' ? undefined : parsed;
}

function noHistory(roots: readonly KnownRoot[], configFile: string | undefined): string {
  const names = roots.map(({ name }) => name).join(', ');
  const advice =
    configFile === undefined
      ? 'give the folder that is served as a root; history is kept by a server that is started with --history'
      : 'add "history: {}" to a root of the config and start the server again';
  return `no history has been kept for ${names} so far; ${advice}`;
}
