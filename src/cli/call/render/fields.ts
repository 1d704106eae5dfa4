import { printable } from '../../../runtime/printable.ts';
import { formatSize } from '../../../wire/format-size.ts';
import { localTime } from '../../terminal/local-time.ts';

/** An object of a result, whose fields are not checked. */
export type Fields = Readonly<Record<string, unknown>>;

/** Returns a list of objects; undefined for anything else. An empty list is one. */
export function objects(value: unknown): readonly Fields[] | undefined {
  return Array.isArray(value) && value.every(isFields) ? value : undefined;
}

/** Returns a list of texts; undefined for anything else. */
export function texts(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.every((each) => typeof each === 'string') ? value : undefined;
}

/** Reports whether a value is an object with fields. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Writes a value on one line. */
export function inline(value: unknown): string {
  if (Array.isArray(value) && value.every((each) => typeof each !== 'object')) return value.map(inline).join(', ');
  return printable(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
}

/** Writes the size of an entry, or nothing if it has none. */
export function sizeOf({ size, type }: Fields): string {
  return typeof size === 'number' && type !== 'directory' ? formatSize(size, 'short') : '';
}

/** Writes the time of the last modification of an entry, or nothing if it is not known. */
export function timeOf({ modified_at: modifiedAt, modified }: Fields): string {
  const ms = Date.parse(String(modifiedAt ?? modified));
  return Number.isNaN(ms) ? '' : localTime(ms);
}
