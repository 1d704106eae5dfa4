import { entryTypeOf, FenceError, type Name, type ReadableFile, type Root } from '../../fence/index.ts';
import { afterByteOrderMark, FileSearch } from '../file/file-search.ts';
import { CHUNK_BYTES, LineBlockReader, SNIFF_BYTES } from '../file/line-block-reader.ts';
import type { LinePattern } from '../file/line-pattern.ts';
import type { SearchMemory } from '../kernels/search-memory.ts';
import { childPath, DirCache, type DirNode, START_NODE } from '../walk/dir-cache.ts';
import type { IgnoreRules } from '../walk/ignore-rules.ts';
import { isSkippable } from '../walk/is-skippable.ts';
import { walkTree } from '../walk/walk-tree.ts';
import { type Budget, SEARCH_COST } from './budget.ts';
import { type GrepFound, MatchCollector } from './match-collector.ts';
import type { GrepSpec } from './messages.ts';
import type { Coroutine } from './round-robin.ts';
import type { StopFlag } from './shared-flags.ts';
import { type FileRange, packNames, unpackNames, type WorkResult, type WorkUnit } from './work-unit.ts';

/** A file larger than this is searched in ranges, by several workers at once. */
const LARGE_FILE = 8 * 1024 * 1024;

/** Maximum number of files in one work unit that is handed back. */
const FILES_AT_ONCE = 256;

/** Options of a `GrepTask`. */
export interface GrepTaskOptions {
  readonly root: Root;
  readonly spec: GrepSpec;
  readonly pattern: LinePattern;
  /** Whether to search the file with this path, relative to the start of the search. */
  readonly wanted: ((path: string) => boolean) | undefined;
  /** Whether to search the folder with this path, relative to the start of the search. */
  enters(path: string): boolean;
  readonly rules: IgnoreRules | undefined;
  readonly stop: StopFlag;
  readonly memory: SearchMemory;
  /** A read buffer from `SearchMemory.take` for exclusive use. */
  readonly buffer: Buffer;
  readonly budget: Budget;
  /** See `SearchTask`. */
  readonly toPass: number | undefined;
}

/** Searches the files of some work units until its budget is spent. Files that cannot be read are skipped. */
export class GrepTask {
  readonly #options: GrepTaskOptions;
  readonly #dirs: DirCache;
  /** Path of the start of the search, with a trailing slash. */
  readonly #prefix: string;
  readonly #budget: Budget;
  readonly #collector: MatchCollector;

  constructor(options: GrepTaskOptions) {
    const { root, spec, budget, toPass } = options;
    this.#options = options;
    this.#dirs = new DirCache(() => root.openDir(spec.path));
    this.#prefix = spec.path.segments.map((segment) => `${segment}/`).join('');
    this.#budget = budget;
    this.#collector = new MatchCollector(spec, toPass);
  }

  /**
   * Works on the units and returns, in path order, what it found and what is left to do. Raises the error of opening
   * the start of the search; files and folders below it that cannot be read are skipped.
   */
  *run(units: readonly WorkUnit[]): Coroutine<WorkResult<GrepFound>[]> {
    using _dirs = this.#dirs;
    for (const unit of units) {
      if (this.#isOver()) break;
      if (this.#budget.isSpent()) this.#collector.leave(unit);
      else yield* this.#unit(unit);
    }
    this.#collector.flush();
    if (this.#isOver()) this.#collector.leave({ kind: 'unfinished' });
    return this.#collector.results;
  }

  *#unit(unit: WorkUnit): Coroutine<void> {
    if (unit.kind === 'start') yield* this.#start();
    else if (unit.kind === 'folder') yield* this.#folder(unit.node);
    else if (unit.kind === 'files') yield* this.#files(unit.node, unpackNames(unit.names));
    else yield* this.#part(unit);
  }

  *#start(): Coroutine<void> {
    const { spec, wanted } = this.#options;
    if (!this.#startsAtFile()) {
      this.#dirs.open(START_NODE);
      yield* this.#folder(START_NODE);
      return;
    }
    this.#collector.add('seen', 1);
    if (wanted?.(spec.path.segments.at(-1) ?? '') !== false) yield* this.#file(START_NODE, START_NODE.name);
  }

  #startsAtFile(): boolean {
    const { root, spec } = this.#options;
    using found = root.locate(spec.path, { follow: true });
    if (found.stats === undefined) throw new FenceError('not_found', {});
    const type = entryTypeOf(found.stats);
    if (type === 'other') throw new FenceError('special_file', {});
    return type === 'file';
  }

  *#folder(from: DirNode): Coroutine<void> {
    const { spec, wanted, enters, rules, stop } = this.#options;
    const visits = walkTree(from, {
      dirs: this.#dirs,
      budget: this.#budget,
      types: new Set(['file']),
      maxDepth: spec.maxDepth ?? Number.POSITIVE_INFINITY,
      skipHidden: spec.skipHidden,
      enters,
      skipped: () => this.#collector.endFile('skipped'),
      rules,
      ignored: (entries) => this.#collector.add('ignored', entries),
      isStopped: () => stop.raised,
    });
    for (const { node, entries } of visits) {
      if (this.#isOver()) return;
      if (entries === undefined) {
        this.#collector.leave({ kind: 'folder', node });
      } else if (entries.length === 0) {
        yield undefined;
      } else {
        this.#collector.add('seen', entries.length);
        // Built by `push` like the arrays that `split` returns in `unpackNames`: `map` yields arrays of another V8
        // elements kind, which would make the code that handles both slower.
        const names: Name[] = [];
        for (const { name, raw } of entries) if (wanted === undefined || wanted(childPath(node, name))) names.push(raw);
        yield* this.#files(node, names);
      }
    }
  }

  /** Searches files of one folder until the budget is spent, and hands back the rest. */
  *#files(node: DirNode, names: readonly Name[]): Coroutine<void> {
    for (let at = 0; at < names.length && !this.#isOver(); at += 1) {
      if (this.#budget.isSpent()) {
        this.#leaveFiles(node, names.slice(at));
        return;
      }
      const name = names[at] as Name;
      this.#budget.spend(SEARCH_COST.file);
      if (this.#budget.shouldYield()) yield undefined;
      const block = this.#readSmall(node, name);
      if (block === undefined) yield* this.#file(node, name);
      else if (this.#mayMatch(block)) yield* this.#smallFile(node, name, block);
    }
  }

  #leaveFiles(node: DirNode, names: readonly Name[]): void {
    for (let at = 0; at < names.length; at += FILES_AT_ONCE) {
      const some = packNames(names.slice(at, at + FILES_AT_ONCE));
      this.#collector.leave({ kind: 'files', node, names: some });
    }
  }

  /**
   * Opens, reads and closes a small file in one go, the common case in trees of source code. Returns undefined if the
   * file is too large or cannot be read, so that the general path has to handle it.
   */
  #readSmall(node: DirNode, name: Name): Buffer | undefined {
    const { spec, buffer } = this.#options;
    try {
      const limit = Math.min(CHUNK_BYTES, spec.maxFileSize ?? CHUNK_BYTES);
      const bytes = this.#dirs.open(node).readSmallFile(name, buffer, limit);
      return bytes === undefined ? undefined : buffer.subarray(0, bytes);
    } catch {
      // The general path opens the file again and handles the error.
      return undefined;
    }
  }

  /**
   * Returns whether a small file has a match, or may have one that takes long to find. Counts the file if it has none.
   */
  #mayMatch(block: Buffer): boolean {
    const { pattern, memory } = this.#options;
    this.#budget.spend(SEARCH_COST.byte * block.length);
    const isText = !memory.hasNul(block, SNIFF_BYTES);
    const from = afterByteOrderMark(block);
    // Hardly any file matches, so most need no line numbers or context.
    if (isText && from < block.length && pattern.scan(block).next(from) !== -1) return true;
    this.#collector.endFile(isText ? 'searched' : undefined);
    return false;
  }

  /** Searches a small text file that is in the read buffer. */
  *#smallFile(node: DirNode, name: Name, block: Buffer): Coroutine<void> {
    yield* this.#search(node, name).runOn(block);
    if (!this.#handsBack({ kind: 'files', node, names: packNames([name]) })) this.#collector.endFile('searched');
  }

  *#file(node: DirNode, name: Name): Coroutine<void> {
    const { spec, buffer } = this.#options;
    try {
      using file = this.#open(node, name);
      const { size } = file;
      if (spec.maxFileSize !== undefined && size > spec.maxFileSize) {
        this.#collector.endFile('skipped');
      } else if (size <= LARGE_FILE) {
        this.#budget.spend(SEARCH_COST.byte * size);
        const isText = yield* this.#search(node, name).run(file);
        if (!this.#handsBack({ kind: 'files', node, names: packNames([name]) }))
          this.#collector.endFile(isText ? 'searched' : undefined);
      } else {
        const range = { from: 0, to: size, end: size, identity: file.identity() };
        if (new LineBlockReader(file, buffer, range).startsBinary()) return;
        this.#collector.leave({ kind: 'lines', node, name, range });
      }
    } catch (error) {
      if (!isSkippable(error)) throw error;
      this.#collector.endFile('skipped');
    }
  }

  *#part(unit: WorkUnit & { kind: 'lines' }): Coroutine<void> {
    const { node, name, range } = unit;
    const isFirst = range.from === 0;
    let lines = 0;
    try {
      using file = this.#open(node, name);
      // A file that replaced it meanwhile must not contribute lines.
      if (file.identity() !== range.identity) throw new FenceError('not_found', {});
      const search = this.#search(node, name, range);
      yield* search.run(file);
      if (this.#handsBack(unit)) return;
      lines = search.lines;
      this.#collector.endFile(isFirst ? 'searched' : undefined);
    } catch (error) {
      if (!isSkippable(error)) throw error;
      this.#collector.endFile(isFirst ? 'skipped' : undefined);
    }
    this.#collector.flush({ isFirst, lines });
  }

  /**
   * Hands back a file, or a range of it, that has more text than a result may have if the offset may leave some of it
   * out: it is searched again once it is known how many matches come before it. Ends the task in this case.
   */
  #handsBack(unit: WorkUnit & { kind: 'files' | 'lines' }): boolean {
    if (!this.#collector.list.overflows) return false;
    this.#collector.drop();
    this.#collector.leave({ ...unit, inTurn: true });
    this.#budget.spend(Number.POSITIVE_INFINITY);
    return true;
  }

  #search(node: DirNode, name: Name, range?: FileRange): FileSearch {
    const { spec, pattern, stop, memory, buffer } = this.#options;
    const { contextLines, output } = spec;
    const found = this.#collector.list;
    const path = this.#path(node, name);
    return new FileSearch(path, { pattern, contextLines, output, stop, found, memory, buffer, range });
  }

  #open(node: DirNode, name: Name): ReadableFile {
    const { root, spec } = this.#options;
    return isStart(node, name) ? root.openFile(spec.path) : this.#dirs.open(node).openForRead(name);
  }

  #path(node: DirNode, name: Name): string {
    if (isStart(node, name)) return this.#options.spec.path.segments.join('/');
    return this.#prefix + childPath(node, name.toString());
  }

  /** Whether the search was stopped or has found more than may be returned. */
  #isOver(): boolean {
    return this.#options.stop.raised || this.#collector.list.full;
  }
}

/** Whether a name stands for the start of the search itself: no folder entry is called ".". */
function isStart(node: DirNode, name: Name): boolean {
  return node === START_NODE && name === START_NODE.name;
}
