import { entryTypeOf, FenceError, type Name, type ReadableFile, type Root } from '../../fence/index.ts';
import { afterMark, FileSearch } from '../file/file-search.ts';
import { CHUNK_BYTES, LineBlockReader, SNIFF_BYTES } from '../file/line-block-reader.ts';
import type { LinePattern } from '../file/line-pattern.ts';
import type { SearchMemory } from '../kernels/search-memory.ts';
import type { GrepSpec } from '../task/specs.ts';
import type { Coroutine } from '../task/steps.ts';
import type { StopFlag } from '../task/stop-flag.ts';
import { childPath, DirCache, type DirNode, START_NODE } from '../walk/dir-cache.ts';
import { isSkippable, walkTree } from '../walk/walk-tree.ts';
import { type Budget, COST } from './budget.ts';
import { LineCollector, type LineResults } from './match-collector.ts';
import { type LineRange, packNames, unpackNames, type WorkResult, type WorkUnit } from './work-unit.ts';

/** A larger file is searched in parts, by several workers at once. */
const LARGE_FILE = 8 * 1024 * 1024;

/** How many files of one folder are handed back as one stretch. */
const FILES_AT_ONCE = 256;

export interface LineTaskOptions {
  readonly root: Root;
  readonly spec: GrepSpec;
  readonly pattern: LinePattern;
  /** Whether to search the file with this path, from the start of the search on. */
  readonly wanted: ((path: string) => boolean) | undefined;
  readonly stop: StopFlag;
  readonly memory: SearchMemory;
  /** At least `READ_BYTES`, best of this memory, for the use of this task alone. */
  readonly buffer: Buffer;
  readonly budget: Budget;
}

/** Looks for lines, file by file, as far as its budget goes. A file that cannot be read is left out. */
export class LineTask {
  readonly #options: LineTaskOptions;
  readonly #dirs: DirCache;
  /** What paths from the root on have before those from the start on. */
  readonly #prefix: string;
  readonly #budget: Budget;
  readonly #findings: LineCollector;

  constructor(options: LineTaskOptions) {
    const { root, spec, budget } = options;
    this.#options = options;
    this.#dirs = new DirCache(() => root.openDir(spec.path));
    this.#prefix = spec.path.segments.map((segment) => `${segment}/`).join('');
    this.#budget = budget;
    this.#findings = new LineCollector(spec);
  }

  /** Raises what is wrong with the start if that is where to begin. */
  *run(units: readonly WorkUnit[]): Coroutine<WorkResult<LineResults>[]> {
    using _dirs = this.#dirs;
    for (const unit of units) {
      if (this.#isOver()) break;
      if (this.#budget.isSpent) this.#findings.leave(unit);
      else yield* this.#unit(unit);
    }
    this.#findings.flush();
    if (this.#isOver()) this.#findings.leave({ kind: 'unfinished' });
    return this.#findings.results;
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
    } else if (wanted?.(spec.path.segments.at(-1) ?? '') !== false) {
      yield* this.#file(START_NODE, START_NODE.name);
    }
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
    const { spec, wanted } = this.#options;
    const visits = walkTree(from, {
      dirs: this.#dirs,
      budget: this.#budget,
      types: new Set(['file']),
      maxDepth: spec.maxDepth ?? Number.POSITIVE_INFINITY,
      skipHidden: spec.skipHidden,
      enters: () => true,
      skipped: () => this.#findings.count('skipped'),
    });
    for (const { node, entries } of visits) {
      if (this.#isOver()) return;
      if (entries === undefined) {
        this.#findings.leave({ kind: 'folder', node });
      } else {
        // Put together as `split` does it: `map` gives arrays of another kind, and code made for both kinds is slower.
        const names: Name[] = [];
        for (const { name, raw } of entries) if (wanted === undefined || wanted(childPath(node, name))) names.push(raw);
        yield* this.#files(node, names);
      }
    }
  }

  /** Searches these files of a folder as far as the budget goes, and leaves the rest. */
  *#files(node: DirNode, names: readonly Name[]): Coroutine<void> {
    for (let at = 0; at < names.length && !this.#isOver(); at += 1) {
      if (this.#budget.isSpent) {
        this.#leaveFiles(node, names.slice(at));
        return;
      }
      const name = names[at] as Name;
      this.#budget.spend(COST.file);
      if (this.#budget.shouldYield()) yield undefined;
      if (!this.#smallFile(node, name)) yield* this.#file(node, name);
    }
  }

  #leaveFiles(node: DirNode, names: readonly Name[]): void {
    for (let at = 0; at < names.length; at += FILES_AT_ONCE) {
      const some = packNames(names.slice(at, at + FILES_AT_ONCE));
      this.#findings.leave({ kind: 'files', node, names: some });
    }
  }

  /** Searches a file in one go, which is most of what a tree of small files takes. False if it has to be opened. */
  #smallFile(node: DirNode, name: Name): boolean {
    const { spec, pattern, memory, buffer } = this.#options;
    const bytes = this.#readSmall(node, name, Math.min(CHUNK_BYTES, spec.maxFileSize ?? CHUNK_BYTES));
    if (bytes === undefined) return false;
    const block = buffer.subarray(0, bytes);
    this.#budget.spend(COST.byte * bytes);
    const isText = !memory.hasNul(block, SNIFF_BYTES);
    const from = afterMark(block);
    // Hardly any file has a match.
    const matches = isText && from < bytes && pattern.scan(block).next(from) !== -1;
    if (matches) this.#search(node, name).runOn(block);
    this.#findings.count(isText ? 'searched' : 'nothing');
    return true;
  }

  #readSmall(node: DirNode, name: Name, limit: number): number | undefined {
    try {
      return this.#dirs.open(node).readSmallFile(name, this.#options.buffer, limit);
    } catch {
      // It comes again when the file is opened.
      return undefined;
    }
  }

  *#file(node: DirNode, name: Name): Coroutine<void> {
    const { spec, buffer } = this.#options;
    try {
      using file = this.#open(node, name);
      const { size } = file;
      if (spec.maxFileSize !== undefined && size > spec.maxFileSize) {
        this.#findings.count('skipped');
      } else if (size <= LARGE_FILE) {
        this.#budget.spend(COST.byte * size);
        const isText = yield* this.#search(node, name).run(file);
        this.#findings.count(isText ? 'searched' : 'nothing');
      } else {
        const range = { from: 0, to: size, end: size, identity: file.identity() };
        if (new LineBlockReader(file, buffer, range).startsBinary()) return;
        this.#findings.leave({ kind: 'lines', node, name, range });
      }
    } catch (error) {
      if (!isSkippable(error)) throw error;
      this.#findings.count('skipped');
    }
  }

  *#part({ node, name, range }: WorkUnit & { kind: 'lines' }): Coroutine<void> {
    const isFirst = range.from === 0;
    let lines = 0;
    try {
      using file = this.#open(node, name);
      // Whatever has taken its place since is another file, and its lines do not belong here.
      if (file.identity() !== range.identity) throw new FenceError('not_found', {});
      const search = this.#search(node, name, range);
      yield* search.run(file);
      lines = search.lines;
      this.#findings.count(isFirst ? 'searched' : 'nothing');
    } catch (error) {
      if (!isSkippable(error)) throw error;
      this.#findings.count(isFirst ? 'skipped' : 'nothing');
    }
    this.#findings.flush({ isFirst, lines });
  }

  #search(node: DirNode, name: Name, range?: LineRange): FileSearch {
    const { spec, pattern, stop, memory, buffer } = this.#options;
    const { contextLines } = spec;
    const found = this.#findings.list;
    return new FileSearch(this.#path(node, name), { pattern, contextLines, stop, found, memory, buffer, range });
  }

  #open(node: DirNode, name: Name): ReadableFile {
    const { root, spec } = this.#options;
    return isStart(node, name) ? root.openFile(spec.path) : this.#dirs.open(node).openForRead(name);
  }

  #path(node: DirNode, name: Name): string {
    if (isStart(node, name)) return this.#options.spec.path.segments.join('/');
    return this.#prefix + childPath(node, name.toString());
  }

  /** It was told to stop, or has found more than is wanted. */
  #isOver(): boolean {
    return this.#options.stop.raised || this.#findings.list.full;
  }
}

/** No entry of a folder has this name, so it is the start of the search itself. */
function isStart(node: DirNode, name: Name): boolean {
  return node === START_NODE && name === START_NODE.name;
}
