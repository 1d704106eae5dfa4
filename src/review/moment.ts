import { timeOfChange } from '../history/index.ts';

/** A moment as a person writes it: a time, or the name of something that the history knows the time of. */
export type Moment = { readonly time: number } | { readonly name: string };

const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const DURATION = /^(\d{1,9}[smhdw])+$/;
const ISO_DATE = /^\d{4}-\d{2}-\d{2}$/;
const ISO_TIME = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?$/;

/**
 * Reads a moment: a duration before `now` (`15m`, `1h30m`, `2d`), an ISO 8601 date or time, which is local without a
 * zone, or a name. Undefined for a date that does not exist.
 */
export function parseMoment(text: string, now: number): Moment | undefined {
  if (DURATION.test(text)) return { time: now - durationMs(text) };
  if (!ISO_DATE.test(text) && !ISO_TIME.test(text)) return { name: text };
  const time = Date.parse(ISO_DATE.test(text) ? `${text}T00:00` : text.replace(' ', 'T'));
  return Number.isNaN(time) ? undefined : { time };
}

function durationMs(text: string): number {
  const parts = text.match(/\d+[smhdw]/g) ?? [];
  return parts.reduce((sum, part) => sum + Number.parseInt(part, 10) * (UNIT_MS[part.slice(-1)] ?? 0), 0);
}

const EARLIEST_ID = Date.UTC(2025);
/** How far ahead the clock of the process may have been that made an id. */
const AHEAD_MS = 86_400_000;

/** Reports whether a word can be the id of a change until now: its time comes first. */
export function looksLikeChangeId(word: string, now = Date.now()): boolean {
  const time = timeOfChange(word);
  return time !== undefined && time >= EARLIEST_ID && time < now + AHEAD_MS;
}
