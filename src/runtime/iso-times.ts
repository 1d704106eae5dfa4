const DAY_MS = 86_400_000;
/**
 * The largest time value of a `Date` in milliseconds; the smallest is its negative. See
 * https://tc39.es/ecma262/#sec-time-values-and-time-range.
 */
const MAX_DATE_MS = 8.64e15;
const twoDigits = Array.from({ length: 60 }, (_, value) => String(value).padStart(2, '0'));
const endings = Array.from({ length: 1000 }, (_, value) => `.${String(value).padStart(3, '0')}Z`);

/**
 * Formats a file time (milliseconds since the epoch, rounded) as ISO 8601. Times outside the range of `Date`, which
 * some filesystems can store, are clamped to that range.
 */
export function isoTime(ms: number): string {
  return new Date(clampToDateRange(Math.round(ms))).toISOString();
}

function clampToDateRange(ms: number): number {
  return Math.max(-MAX_DATE_MS, Math.min(ms, MAX_DATE_MS));
}

/**
 * Formats whole milliseconds exactly like `isoTime`, about ten times as fast over a folder's entries: it caches the
 * date, the second and the text it formatted last, because entries of one folder often have times close to each other.
 */
export class IsoTimeFormatter {
  #day = Number.NaN;
  #date = '';
  #second = Number.NaN;
  #start = '';
  #ms = Number.NaN;
  #text = '';

  /** Formats one time. */
  format(time: number): string {
    const ms = clampToDateRange(time);
    if (ms === this.#ms) return this.#text;
    const second = Math.floor(ms / 1000);
    if (second !== this.#second) {
      this.#start = this.#upToSecond(ms);
      this.#second = second;
    }
    this.#ms = ms;
    this.#text = `${this.#start}${endings[ms - second * 1000]}`;
    return this.#text;
  }

  #upToSecond(ms: number): string {
    const day = Math.floor(ms / DAY_MS);
    if (day !== this.#day) {
      const text = isoTime(ms);
      this.#day = day;
      this.#date = text.slice(0, text.indexOf('T') + 1);
    }
    const seconds = Math.floor((ms - day * DAY_MS) / 1000);
    const minutes = Math.floor(seconds / 60);
    return `${this.#date}${twoDigits[Math.floor(minutes / 60)]}:${twoDigits[minutes % 60]}:${twoDigits[seconds % 60]}`;
  }
}
