const DAY_MS = 86_400_000;
/** The last time that a Date can hold; the first one is as far in the past. */
const MOST_MS = 8.64e15;
const twoDigits = Array.from({ length: 60 }, (_, value) => String(value).padStart(2, '0'));
const endings = Array.from({ length: 1000 }, (_, value) => `.${String(value).padStart(3, '0')}Z`);

/** Writes a time as `stats` has it. Some filesystems hold times that no Date does: those show as the nearest that does. */
export function isoTime(ms: number): string {
  return new Date(nearest(Math.round(ms))).toISOString();
}

function nearest(ms: number): number {
  return Math.max(-MOST_MS, Math.min(ms, MOST_MS));
}

/**
 * Writes times, in whole milliseconds, as `isoTime` does, in a tenth of its time. Remembers the day, the
 * second and the time it wrote last: what lies in a folder was often made on the same day, if not in the same moment.
 */
export class IsoTimeFormatter {
  #day = Number.NaN;
  #date = '';
  #second = Number.NaN;
  #start = '';
  #ms = Number.NaN;
  #text = '';

  format(time: number): string {
    const ms = nearest(time);
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
