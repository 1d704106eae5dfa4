import type { OpenFile } from '../../fence/index.ts';
import { type LineReadContext, SparseLineIndex } from './sparse-line-index.ts';

/** Smaller files are counted anew each time, which is as fast as anything that could be remembered about them. */
const WORTH_BYTES = 1024 * 1024;
const MAX_BYTES = 8 * 1024 * 1024;
/** For the entry itself, beside its marks. */
const ENTRY_BYTES = 256;
/** A change so soon after another may leave no trace in the times of a file, which some systems keep in steps of two seconds. */
const SETTLED_MS = 2_000;

export interface LineIndexOptions {
  /** The most that all marks together take in memory. */
  readonly maxBytes?: number;
  /** How long a file must have been left alone before what was read of it is remembered. */
  readonly settledMs?: number;
}

/**
 * Remembers the line marks of large files, those used last first, so that paging through a log reads it once. A file is
 * known by device, inode, size and the times of its last change: whatever differs is read anew, all of it, also where
 * it looks as if something had only been added at the end, since nothing shows that the rest is what it was.
 */
export class LineIndexCache {
  readonly #maxBytes: number;
  readonly #settledMs: number;
  /** The longest unused first. */
  readonly #entries = new Map<string, { readonly state: string; readonly marks: SparseLineIndex }>();
  #bytes = 0;

  constructor({ maxBytes = MAX_BYTES, settledMs = SETTLED_MS }: LineIndexOptions = {}) {
    this.#maxBytes = maxBytes;
    this.#settledMs = settledMs;
  }

  /** How much is remembered, in bytes, and of how many files. */
  get usage(): { bytes: number; files: number } {
    return { bytes: this.#bytes, files: this.#entries.size };
  }

  /** The marks of a file, from memory if it has not changed since. @internal */
  async indexOf(work: LineReadContext & { file: OpenFile }): Promise<SparseLineIndex> {
    const { file } = work;
    if (file.stats.size < WORTH_BYTES) return SparseLineIndex.of(work);
    const key = `${file.stats.dev} ${file.stats.ino}`;
    const state = stateOf(file.stats);
    const known = this.#entries.get(key);
    if (known?.state === state) {
      this.#entries.delete(key);
      this.#entries.set(key, known);
      return known.marks;
    }
    this.#forget(key);
    const started = Date.now();
    const marks = await SparseLineIndex.of(work);
    const { mtimeMs, ctimeMs } = file.stats;
    const settled = started - Math.max(mtimeMs, ctimeMs) >= this.#settledMs;
    if (settled && marks.size === file.stats.size && stateOf(file.stat()) === state) this.#keep(key, state, marks);
    return marks;
  }

  #keep(key: string, state: string, marks: SparseLineIndex): void {
    this.#forget(key);
    this.#entries.set(key, { state, marks });
    this.#bytes += marks.bytes + ENTRY_BYTES;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#forget(oldest);
    }
  }

  #forget(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= entry.marks.bytes + ENTRY_BYTES;
  }
}

function stateOf({ size, mtimeMs, ctimeMs }: OpenFile['stats']): string {
  return `${size} ${mtimeMs} ${ctimeMs}`;
}
