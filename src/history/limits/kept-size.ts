import type { Dir, Entry } from '../../fence/index.ts';
import { isFenceError } from '../../fence/index.ts';
import { decodeLine, encodeLine } from '../log/log-line.ts';
import type { HistoryStore } from '../store.ts';

/** How much is kept. */
export interface KeptSize {
  readonly bytes: number;
  readonly files: number;
}

/** Yields to other work if it is time to. */
export type Pause = () => Promise<void> | undefined;

/** What was counted in the folder of a segment, and what it was counted from. */
interface CountedFolder extends KeptSize {
  /** Status of the folder: it changes when something is put into it or taken out. */
  readonly ino: number;
  readonly mtimeMs: number;
  /** The folders in it, each with all that is in it, by their names. */
  readonly trees: Readonly<Record<string, CountedTree>>;
}

interface CountedTree extends KeptSize {
  readonly ino: number;
}

const NOTE = 'kept';
/** After that time, a further change to a folder gets another time of modification. */
const TICK_MS = 1000;

/**
 * Returns how much the steps of a segment keep. Counts only what was not counted before: the result is stored beside
 * the segment, and the size of each kept folder is noted in the log.
 */
export async function keptSize({ log, kept }: HistoryStore, segment: number, pause: Pause): Promise<KeptSize> {
  using dir = kept.openSegment(segment);
  const status = dir?.lstat('.');
  if (dir === undefined || status === undefined) return { bytes: 0, files: 0 };
  const { ino, mtimeMs } = status;
  const noted = readCounted(log.folder.readNote(segment, NOTE));
  if (noted?.ino === ino && noted.mtimeMs === mtimeMs) return noted;

  const trees: Record<string, CountedTree> = {};
  let [bytes, files] = [0, 0];
  for (const batch of dir.listBatches(true)) {
    for (const entry of batch) {
      const known = noted?.trees[entry.name];
      const size = await sizeOf(dir, entry, known, pause);
      bytes += size.bytes;
      files += size.files;
      if (!('ino' in size)) continue;
      trees[entry.name] = size;
      if (size !== known) log.mark({ counted: keyOf(entry.name), bytes: size.bytes, files: size.files });
    }
  }
  const counted: CountedFolder = { ino, mtimeMs, bytes, files, trees };
  if (Date.now() - mtimeMs > TICK_MS) log.folder.writeNote(segment, NOTE, Buffer.from(encodeLine(counted)));
  return counted;
}

async function sizeOf(
  dir: Dir,
  { raw, type }: Entry,
  known: CountedTree | undefined,
  pause: Pause,
): Promise<KeptSize | CountedTree> {
  const wait = pause();
  if (wait !== undefined) await wait;
  if (type !== 'directory') return { bytes: dir.statLite(raw)?.size ?? 0, files: 1 };
  const ino = dir.lstat(raw)?.ino ?? 0;
  if (known?.ino === ino) return known;
  return { ino, ...(await countTree(dir, raw, pause)) };
}

/** Counts the files in a folder at any depth. What cannot be entered counts as nothing. */
async function countTree(parent: Dir, name: Entry['raw'], pause: Pause): Promise<KeptSize> {
  let [bytes, files] = [0, 0];
  try {
    using dir = parent.openDir(name);
    for (const batch of dir.listBatches(true)) {
      for (const { raw, type } of batch) {
        const wait = pause();
        if (wait !== undefined) await wait;
        const size = type === 'directory' ? await countTree(dir, raw, pause) : undefined;
        bytes += size?.bytes ?? dir.statLite(raw)?.size ?? 0;
        files += size?.files ?? 1;
      }
    }
  } catch (error) {
    if (!isFenceError(error, 'permission_denied', 'not_found', 'not_directory')) throw error;
  }
  return { bytes, files };
}

/** Returns the key of the step that keeps an entry. */
function keyOf(name: string): string {
  return name.replace('-', '.');
}

function readCounted(bytes: Buffer | undefined): CountedFolder | undefined {
  return bytes && decodeLine(bytes.toString('utf8', 1), isCounted);
}

function isCounted(value: unknown): value is CountedFolder {
  if (!isSize(value)) return false;
  const { ino, mtimeMs, trees } = value as Partial<CountedFolder>;
  if (!(Number.isFinite(ino) && Number.isFinite(mtimeMs) && typeof trees === 'object' && trees !== null)) return false;
  return Object.values(trees).every((tree) => isSize(tree) && Number.isFinite(tree.ino));
}

function isSize(value: unknown): value is KeptSize {
  if (typeof value !== 'object' || value === null) return false;
  const { bytes, files } = value as Partial<KeptSize>;
  return Number.isFinite(bytes) && Number.isFinite(files);
}
