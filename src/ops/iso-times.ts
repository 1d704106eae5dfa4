const DAY_MS = 86_400_000;
const twoDigits = Array.from({ length: 60 }, (_, value) => String(value).padStart(2, '0'));
const threeDigits = Array.from({ length: 1000 }, (_, value) => String(value).padStart(3, '0'));

/**
 * Writes times, in whole milliseconds, as `Date.toISOString` does, which takes ten times as long. Remembers the day it
 * wrote last: what lies in a folder is often of the same one.
 */
export class IsoTimes {
  #day = Number.NaN;
  #date = '';

  format(ms: number): string {
    const day = Math.floor(ms / DAY_MS);
    if (day !== this.#day) {
      const text = new Date(ms).toISOString();
      this.#day = day;
      this.#date = text.slice(0, text.indexOf('T') + 1);
    }
    const rest = ms - day * DAY_MS;
    const seconds = Math.floor(rest / 1000);
    const minutes = Math.floor(seconds / 60);
    const clock = `${twoDigits[Math.floor(minutes / 60)]}:${twoDigits[minutes % 60]}:${twoDigits[seconds % 60]}`;
    return `${this.#date}${clock}.${threeDigits[rest % 1000]}Z`;
  }
}
