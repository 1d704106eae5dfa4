import { RingfenceError } from '../../errors.ts';
import { type Name, type ReadableFile, type Root, typeOf } from '../../fence/index.ts';
import { afterMark, FileSearch } from '../file/file-search.ts';
import { CHUNK, RegionReader, SNIFFED } from '../file/line-block-reader.ts';
import type { LinePattern } from '../file/line-pattern.ts';
import type { SearchMemory } from '../kernels/search-memory.ts';
import type { LineSpec } from '../pool/messages.ts';
import { type Budget, COST } from '../walk/budget.ts';
import { type Place, pathIn, START, Trail } from '../walk/dir-cache.ts';
import { isSkippable, walk } from '../walk/walk.ts';
import { type FoundLines, LineFindings } from './line-collector.ts';
import type { Steps } from './steps.ts';
import type { StopFlag } from './stop-flag.ts';
import { type LineRange, type Piece, packNames, type Stretch, unpackNames } from './work-unit.ts';

/** A larger file is searched in parts, by several workers at once. */
const LARGE_FILE = 8 * 1024 * 1024;

/** How many files of one folder are handed back as one stretch. */
const FILES_AT_ONCE = 256;

export interface LineTaskOptions {
  readonly root: Root;
  readonly spec: LineSpec;
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
  readonly #trail: Trail;
  /** What paths from the root on have before those from the start on. */
  readonly #prefix: string;
  readonly #budget: Budget;
  readonly #findings: LineFindings;

  constructor(options: LineTaskOptions) {
    const { root, spec, budget } = options;
    this.#options = options;
    this.#trail = new Trail(() => root.openDir(spec.path));
    this.#prefix = spec.path.segments.map((segment) => `${segment}/`).join('');
    this.#budget = budget;
    this.#findings = new LineFindings(spec);
  }

  /** Raises what is wrong with the start if that is where to begin. */
  *run(stretches: readonly Stretch[]): Steps<Piece<FoundLines>[]> {
    using _trail = this.#trail;
    for (const stretch of stretches) {
      if (this.#isOver()) break;
      if (this.#budget.spent) this.#findings.leave(stretch);
      else yield* this.#stretch(stretch);
    }
    this.#findings.flush();
    if (this.#isOver()) this.#findings.leave({ kind: 'unfinished' });
    return this.#findings.pieces;
  }

  *#stretch(stretch: Stretch): Steps<void> {
    if (stretch.kind === 'start') yield* this.#start();
    else if (stretch.kind === 'folder') yield* this.#folder(stretch.place);
    else if (stretch.kind === 'files') yield* this.#files(stretch.place, unpackNames(stretch.names));
    else yield* this.#part(stretch);
  }

  *#start(): Steps<void> {
    const { spec, wanted } = this.#options;
    if (!this.#startsAtFile()) {
      this.#trail.enter(START);
      yield* this.#folder(START);
    } else if (wanted?.(spec.path.segments.at(-1) ?? '') !== false) {
      yield* this.#file(START, START.name);
    }
  }

  #startsAtFile(): boolean {
    const { root, spec } = this.#options;
    using found = root.locate(spec.path, { follow: true });
    if (found.stats === undefined) throw new RingfenceError('not_found', {});
    const type = typeOf(found.stats);
    if (type === 'other') throw new RingfenceError('special_file', {});
    return type === 'file';
  }

  *#folder(from: Place): Steps<void> {
    const { spec, wanted } = this.#options;
    const visits = walk(from, {
      trail: this.#trail,
      budget: this.#budget,
      types: new Set(['file']),
      maxDepth: spec.maxDepth ?? Number.POSITIVE_INFINITY,
      skipHidden: spec.skipHidden,
      enters: () => true,
      skipped: () => this.#findings.count('skipped'),
    });
    for (const { place, entries } of visits) {
      if (this.#isOver()) return;
      if (entries === undefined) {
        this.#findings.leave({ kind: 'folder', place });
      } else {
        // Put together as `split` does it: `map` gives arrays of another kind, and code made for both kinds is slower.
        const names: Name[] = [];
        for (const { name, raw } of entries) if (wanted === undefined || wanted(pathIn(place, name))) names.push(raw);
        yield* this.#files(place, names);
      }
    }
  }

  /** Searches these files of a folder as far as the budget goes, and leaves the rest. */
  *#files(place: Place, names: readonly Name[]): Steps<void> {
    for (let at = 0; at < names.length && !this.#isOver(); at += 1) {
      if (this.#budget.spent) {
        this.#leaveFiles(place, names.slice(at));
        return;
      }
      const name = names[at] as Name;
      this.#budget.spend(COST.file);
      if (this.#budget.pauseIsDue()) yield undefined;
      if (!this.#smallFile(place, name)) yield* this.#file(place, name);
    }
  }

  #leaveFiles(place: Place, names: readonly Name[]): void {
    for (let at = 0; at < names.length; at += FILES_AT_ONCE) {
      const some = packNames(names.slice(at, at + FILES_AT_ONCE));
      this.#findings.leave({ kind: 'files', place, names: some });
    }
  }

  /** Searches a file in one go, which is most of what a tree of small files takes. False if it has to be opened. */
  #smallFile(place: Place, name: Name): boolean {
    const { spec, pattern, memory, buffer } = this.#options;
    const bytes = this.#readSmall(place, name, Math.min(CHUNK, spec.maxFileSize ?? CHUNK));
    if (bytes === undefined) return false;
    const region = buffer.subarray(0, bytes);
    this.#budget.spend(COST.byte * bytes);
    const isText = !memory.hasNul(region, SNIFFED);
    const from = afterMark(region);
    // Hardly any file has a match.
    const matches = isText && from < bytes && pattern.scan(region).next(from) !== -1;
    if (matches) this.#search(place, name).runOn(region);
    this.#findings.count(isText ? 'searched' : 'nothing');
    return true;
  }

  #readSmall(place: Place, name: Name, limit: number): number | undefined {
    try {
      return this.#trail.enter(place).readSmall(name, this.#options.buffer, limit);
    } catch {
      // It comes again when the file is opened.
      return undefined;
    }
  }

  *#file(place: Place, name: Name): Steps<void> {
    const { spec, buffer } = this.#options;
    try {
      using file = this.#open(place, name);
      const { size } = file;
      if (spec.maxFileSize !== undefined && size > spec.maxFileSize) {
        this.#findings.count('skipped');
      } else if (size <= LARGE_FILE) {
        this.#budget.spend(COST.byte * size);
        const isText = yield* this.#search(place, name).run(file);
        this.#findings.count(isText ? 'searched' : 'nothing');
      } else {
        const range = { from: 0, to: size, end: size, identity: file.identity() };
        if (new RegionReader(file, buffer, range).startsBinary()) return;
        this.#findings.leave({ kind: 'lines', place, name, range });
      }
    } catch (error) {
      if (!isSkippable(error)) throw error;
      this.#findings.count('skipped');
    }
  }

  *#part({ place, name, range }: Stretch & { kind: 'lines' }): Steps<void> {
    const isFirst = range.from === 0;
    let lines = 0;
    try {
      using file = this.#open(place, name);
      // Whatever has taken its place since is another file, and its lines do not belong here.
      if (file.identity() !== range.identity) throw new RingfenceError('not_found', {});
      const search = this.#search(place, name, range);
      yield* search.run(file);
      lines = search.lines;
      this.#findings.count(isFirst ? 'searched' : 'nothing');
    } catch (error) {
      if (!isSkippable(error)) throw error;
      this.#findings.count(isFirst ? 'skipped' : 'nothing');
    }
    this.#findings.flush({ isFirst, lines });
  }

  #search(place: Place, name: Name, range?: LineRange): FileSearch {
    const { spec, pattern, stop, memory, buffer } = this.#options;
    const { contextLines } = spec;
    const found = this.#findings.list;
    return new FileSearch(this.#path(place, name), { pattern, contextLines, stop, found, memory, buffer, range });
  }

  #open(place: Place, name: Name): ReadableFile {
    const { root, spec } = this.#options;
    return isStart(place, name) ? root.openFile(spec.path) : this.#trail.enter(place).openToRead(name);
  }

  #path(place: Place, name: Name): string {
    if (isStart(place, name)) return this.#options.spec.path.segments.join('/');
    return this.#prefix + pathIn(place, name.toString());
  }

  /** It was told to stop, or has found more than is wanted. */
  #isOver(): boolean {
    return this.#options.stop.raised || this.#findings.list.full;
  }
}

/** No entry of a folder has this name, so it is the start of the search itself. */
function isStart(place: Place, name: Name): boolean {
  return place === START && name === START.name;
}
