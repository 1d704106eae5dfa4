import { HISTORY_FOLDER, type LogRecord, type Step } from './step.ts';

const CHANGE_ID = /^[0-9a-z]{1,32}$/;
const STEP_KEY = /^[0-9a-z]{1,32}\.\d{1,15}$/;
const KEPT_PLACE = /^\d{8,12}\/[0-9a-z]{1,32}-\d{1,15}$/;
const KINDS: ReadonlySet<unknown> = new Set(['put', 'append', 'truncate', 'remove', 'make', 'unmake', 'move']);
const TYPES: ReadonlySet<unknown> = new Set(['file', 'directory', 'symlink', 'other']);

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reports whether what was read from the log is a record that this program writes. Whoever can put a history into a
 * root could write anything there: a record that leads out of the root, or into the history itself, is none.
 */
export function isLogRecord(value: unknown): value is LogRecord {
  if (!isObject(value)) return false;
  if ('done' in value) return isDone(value);
  if ('cancelled' in value) return isKey(value.cancelled) && isOptional(value.ctimes, areTimeChanges);
  if ('counted' in value) return isKey(value.counted) && isNumber(value.bytes) && isNumber(value.files);
  return isStep(value);
}

function isDone({ done, after, keptCtimeMs, beforeCtimeMs, fromCtimeMs }: Fields): boolean {
  const times = [keptCtimeMs, beforeCtimeMs, fromCtimeMs];
  return isKey(done) && isOptional(after, isState) && times.every((time) => isOptional(time, isNumber));
}

function areTimeChanges(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => isObject(one) && [one.ino, one.from, one.to].every(isNumber));
}

function isStep(value: Fields): boolean {
  const { change, number, time, caller, process, kind, path, to, before, replaced, after } = value;
  const { kept, unkept, undoes, from, mtimeNs } = value as Partial<Record<keyof Step, unknown>>;
  return (
    matches(change, CHANGE_ID) &&
    Number.isSafeInteger(number) &&
    isNumber(time) &&
    isCaller(caller) &&
    typeof process === 'string' &&
    KINDS.has(kind) &&
    isPath(path) &&
    (kind === 'move' ? isPath(to) : to === undefined) &&
    [before, replaced, after].every((state) => isOptional(state, isState)) &&
    [kept, from].every((place) => isOptional(place, isPlace)) &&
    isOptional(undoes, isKey) &&
    isOptional(unkept, (reason) => reason === 'too_large') &&
    isOptional(mtimeNs, (time) => matches(time, /^-?\d{1,20}$/))
  );
}

function isCaller(value: unknown): boolean {
  if (!isObject(value) || typeof value.tool !== 'string') return false;
  return [value.client, value.owner, value.call].every((text) => isOptional(text, (one) => typeof one === 'string'));
}

function isState(value: unknown): boolean {
  if (!isObject(value) || !TYPES.has(value.type)) return false;
  const { ino, mode, size, mtimeMs, ctimeMs } = value;
  return [ino, mode, size, mtimeMs, ctimeMs].every(isNumber);
}

/** Paths consist of names, so that they lead nowhere but down. */
function isPath(value: unknown): boolean {
  return typeof value === 'string' && value.split('/').every(isName);
}

function isName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !name.includes('\0') && name !== HISTORY_FOLDER;
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}

function isKey(value: unknown): boolean {
  return matches(value, STEP_KEY);
}

function isPlace(value: unknown): boolean {
  return matches(value, KEPT_PLACE);
}

function matches(value: unknown, pattern: RegExp): boolean {
  return typeof value === 'string' && pattern.test(value);
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

function isOptional(value: unknown, check: (value: unknown) => boolean): boolean {
  return value === undefined || check(value);
}
