import { randomInt } from 'node:crypto';
import type { Stats } from 'node:fs';
import { type Dir, FenceError, isFenceError, type Root, temporaryName } from '../fence/index.ts';
import type { Caller } from '../runtime/operation-context.ts';
import { Change } from './change.ts';
import { KeptEntries } from './kept-entries.ts';
import { HistoryLog } from './log/history-log.ts';
import { HISTORY_FOLDER } from './log/step.ts';
import { DEFAULT_HISTORY, type HistoryNotice, type HistoryOptions, type HistoryStore, SEGMENTS } from './store.ts';

const LOG = 'log';
const KEPT = 'kept';
/** The mode bits that let others in. */
const OTHERS = 0o077;

/** The histories of the roots that have one. */
const histories = new WeakMap<Root, History>();

/** Returns the history of a root. Undefined if none is kept. */
export function historyOf(root: Root): History | undefined {
  return histories.get(root);
}

/**
 * Returns the change that a caller makes in a root: the same one for everything that is done for that caller. Undefined
 * if the root has no history.
 */
export function changeIn(root: Root, caller: Caller | undefined): Change | undefined {
  return histories.get(root)?.changeOf(caller);
}

/** The changes that each caller makes, one for each root with history. */
const changes = new WeakMap<Caller, RootChange[]>();

interface RootChange {
  readonly history: History;
  readonly change: Change;
}

/** What a caller has changed in one root. */
export interface RecordedChange {
  /** The name of the root. */
  readonly root: string;
  /** The id of the change. */
  readonly change: string;
  /** How many entries it replaced or removed without keeping them, because they are too large. */
  readonly unkept: number;
}

/** Returns what a caller has changed so far in roots with history. */
export function recordedBy(caller: Caller): RecordedChange[] {
  return (changes.get(caller) ?? [])
    .filter(({ change }) => change.hasSteps)
    .map(({ history, change }) => ({ root: history.root.name, change: change.id, unkept: change.unkept }));
}

/**
 * What was changed in a root, and what was replaced or removed by that: a log of all changes, and the kept entries. It
 * is in a folder of the root itself, so that keeping an entry is a link or a rename. Several processes may write to it
 * at the same time. Close it after use.
 */
export class History implements HistoryStore, Disposable {
  readonly options: HistoryOptions;
  /** @internal */
  readonly folder: Dir;
  readonly log: HistoryLog;
  readonly kept: KeptEntries;
  /** Called with what an operator should hear about. */
  onNotice: ((notice: HistoryNotice) => void) | undefined;
  /** The root without its rules. @internal */
  readonly root: Root;

  private constructor(root: Root, folder: Dir, options: HistoryOptions) {
    this.root = root;
    this.options = options;
    this.folder = folder;
    this.log = new HistoryLog(openFolder(folder, LOG), {
      keptBytes: options.maxBytes / SEGMENTS,
      ageMs: options.keepMs / SEGMENTS,
    });
    this.kept = new KeptEntries(openFolder(folder, KEPT));
  }

  /**
   * Opens the history of a root, and makes it if there is none. From then on, every change to the root is kept. Raises
   * what making a folder raises, and `not_directory` or `permission_denied` if something else has the place of the
   * history, or somebody else's history.
   */
  static open(root: Root, options: HistoryOptions = DEFAULT_HISTORY): History {
    const own = root.withoutRules();
    const folder = openFolder(own.top, HISTORY_FOLDER);
    try {
      assertOwn(folder, own.top);
      ignoreInRepositories(folder);
      const history = new History(own, folder, options);
      histories.set(root, history);
      return history;
    } catch (error) {
      folder[Symbol.dispose]();
      throw error;
    }
  }

  /** Returns the change that a caller makes here, which begins with its first step. */
  changeOf(caller: Caller | undefined): Change {
    const made = caller && changes.get(caller);
    const known = made?.find(({ history }) => history === this);
    if (known !== undefined) return known.change;
    const change = new Change(this, newChangeId(), caller ?? { tool: 'unknown' });
    if (made !== undefined) made.push({ history: this, change });
    else if (caller !== undefined) changes.set(caller, [{ history: this, change }]);
    return change;
  }

  notify(notice: HistoryNotice): void {
    this.onNotice?.(notice);
  }

  [Symbol.dispose](): void {
    this.log[Symbol.dispose]();
    this.kept[Symbol.dispose]();
    this.folder[Symbol.dispose]();
  }
}

const RANDOM_LETTERS = 4;
const BASE = 36;

/** Makes an id that sorts by time and that people can type: the time in milliseconds and four random letters. */
function newChangeId(): string {
  const random = randomInt(BASE ** RANDOM_LETTERS).toString(BASE);
  return Date.now().toString(BASE) + random.padStart(RANDOM_LETTERS, '0');
}

/** Returns when a change was made, in milliseconds since 1970, from its id. Undefined for what is no id. */
export function timeOfChange(id: string): number | undefined {
  if (!/^[0-9a-z]{9,14}$/.test(id)) return undefined;
  return Number.parseInt(id.slice(0, -RANDOM_LETTERS), BASE);
}

/** Opens a folder of a folder, for nobody but this user, and makes it if it is missing. */
function openFolder(parent: Dir, name: string): Dir {
  try {
    return parent.openDir(name);
  } catch (error) {
    if (!isFenceError(error, 'not_found')) throw error;
  }
  try {
    parent.mkdir(name, 0o700);
  } catch (error) {
    if (!isFenceError(error, 'already_exists')) throw error;
  }
  return parent.openDir(name);
}

/**
 * Raises `permission_denied` for a folder that others could have filled: a history says what to put back. Where the file
 * system has no owners or modes, a new folder is just like it, and whoever mounts it decides who may enter.
 */
function assertOwn(folder: Dir, top: Dir): void {
  const stats = folder.lstat('.');
  const user = process.geteuid?.();
  if (stats === undefined || user === undefined) return;
  if (stats.uid === user && (stats.mode & OTHERS) === 0) return;
  const made = statsOfNew(top);
  if (stats.uid !== made?.uid || (stats.mode & ~made.mode & OTHERS) !== 0)
    throw new FenceError('permission_denied', {}, { path: HISTORY_FOLDER });
}

function statsOfNew(top: Dir): Stats | undefined {
  const name = temporaryName();
  top.mkdir(name, 0o700);
  try {
    return top.lstat(name);
  } finally {
    top.rmdir(name);
  }
}

function ignoreInRepositories(folder: Dir): void {
  try {
    using file = folder.createFile('.gitignore', 0o600);
    file.writeAll(Buffer.from('*\n'));
  } catch (error) {
    if (!isFenceError(error, 'already_exists')) throw error;
  }
}
