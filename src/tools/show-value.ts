import { printable, shorten } from '../runtime/printable.ts';

const MAX_CHARACTERS = 80;

/** Formats an invalid value for an error message: on one line and truncated. */
export function showValue(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
  return printable(truncate(text));
}

/** Truncates a text for an error message to 80 characters. */
export function truncate(text: string): string {
  return shorten(text, MAX_CHARACTERS);
}
