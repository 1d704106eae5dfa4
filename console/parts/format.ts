const NUMBER = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });
const FULL = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

export const formatNumber = (value: number): string => NUMBER.format(value);

/** The time of day, with the day before it unless that is today. */
export function formatTime(time: number): string {
  return new Date(time).toDateString() === new Date().toDateString() ? CLOCK.format(time) : DAY.format(time);
}

export const formatFullTime = (time: number): string => FULL.format(time);

/** `0.42 ms`, `12 ms`, `1.3 s`, `2 min 5 s`. */
export function formatDuration(ms: number): string {
  if (ms < 10) return `${ms.toFixed(ms < 1 ? 2 : 1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.floor(ms / 1000) % 60} s`;
}

/** `4 s`, `3 min`, `2 h`, `5 days`. */
export function formatSpan(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} days`;
}

/** `712 B`, `4.2 KB`, `1.5 GB`. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

/** `1 file`, `2 files`. */
export const plural = (count: number, noun: string): string =>
  `${formatNumber(count)} ${noun}${count === 1 ? '' : 's'}`;
