import { isFenceError } from '../fence/index.ts';
import { decodeLine, encodeLine } from './log/log-line.ts';
import type { HistoryStore } from './store.ts';

/** More than anybody writes. Older records are not read. */
const MAX_BYTES = 1024 * 1024;

/** Appends records to a small file of a history beside its log, and flushes it to disk. */
export async function appendRecords(
  { folder }: Pick<HistoryStore, 'folder'>,
  name: string,
  records: readonly object[],
): Promise<void> {
  try {
    folder.createFile(name, 0o600)[Symbol.dispose]();
  } catch (error) {
    if (!isFenceError(error, 'already_exists')) throw error;
  }
  using file = folder.openForAppend(name);
  file.writeAll(Buffer.from(records.map(encodeLine).join('')));
  await file.syncData();
}

/** Reads the records of such a file that `check` knows, oldest first. */
export function readRecords<T>(
  { folder }: Pick<HistoryStore, 'folder'>,
  name: string,
  check: (value: unknown) => value is T,
): T[] {
  const lines = readText(folder, name).split('\n');
  return lines.map((line) => decodeLine(line, check)).filter((record) => record !== undefined);
}

function readText(folder: HistoryStore['folder'], name: string): string {
  try {
    using file = folder.openFile(name);
    const bytes = Buffer.allocUnsafe(Math.min(file.size, MAX_BYTES));
    const read = file.read(bytes, file.size - bytes.length);
    return bytes.toString('utf8', 0, read);
  } catch (error) {
    if (isFenceError(error, 'not_found')) return '';
    throw error;
  }
}
