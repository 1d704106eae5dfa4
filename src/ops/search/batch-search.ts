import type { Name, ReadableFile, Root } from '../../fence/index.ts';
import { type FileBatch, filesOf } from './file-batch.ts';
import { CHUNK, FileSearch } from './file-search.ts';
import type { LinePattern } from './line-pattern.ts';
import { MatchList } from './match-list.ts';
import type { BatchResult, LineSpec } from './messages.ts';
import type { Steps } from './steps.ts';
import type { StopFlag } from './stop-flag.ts';
import { type Place, pathIn, START, Trail } from './trail.ts';
import { isSkippable } from './walk.ts';

interface BatchSearch {
  readonly root: Root;
  readonly spec: LineSpec;
  readonly pattern: LinePattern;
  readonly stop: StopFlag;
  /** Buffers that no batch is using right now; one is taken and given back. */
  readonly buffers: Buffer[];
}

/** Searches the files of a batch one after the other. A file that cannot be read is left out. */
export function* searchBatch(search: BatchSearch, batch: FileBatch): Steps<BatchResult> {
  const { root, spec, pattern, stop, buffers } = search;
  const found = new MatchList(spec);
  const buffer = buffers.pop() ?? root.allocate(CHUNK);
  const options = { pattern, contextLines: spec.contextLines, stop, found, buffer };
  const counts = { searched: 0, matched: 0, skipped: 0 };
  using trail = new Trail(() => root.openDir(spec.path));
  try {
    for (const { place, name } of filesOf(batch)) {
      if (stop.raised || found.full) break;
      yield undefined;
      try {
        using file = open(search, trail, place, name);
        if (spec.maxFileSize !== undefined && file.size > spec.maxFileSize) {
          counts.skipped += 1;
          continue;
        }
        const before = found.matches.length;
        if (yield* new FileSearch(file, resultPath(spec, place, name), options).run()) counts.searched += 1;
        if (found.matches.length > before) counts.matched += 1;
      } catch (error) {
        if (!isSkippable(error)) throw error;
        counts.skipped += 1;
      }
    }
  } finally {
    buffers.push(buffer);
  }
  return { matches: found.matches, text: found.text, ...counts, complete: !stop.raised };
}

function open({ root, spec }: BatchSearch, trail: Trail, place: Place, name: Name): ReadableFile {
  return isStart(place, name) ? root.openFile(spec.path) : trail.enter(place).openToRead(name);
}

function resultPath(spec: LineSpec, place: Place, name: Name): string {
  const start = spec.path.segments.join('/');
  if (isStart(place, name)) return start;
  const below = pathIn(place, name.toString());
  return start === '' ? below : `${start}/${below}`;
}

/** No entry of a folder has this name, so it is the start of the search itself. */
function isStart(place: Place, name: Name): boolean {
  return place === START && name === START.name;
}
