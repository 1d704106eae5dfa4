const UNITS = ['KB', 'MB', 'GB', 'TB'];

/** A size for a message: `500 bytes`, `5.2MB`. */
export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  let value = bytes / 1024;
  let unit = 0;
  // Not 1024: that would print 1,048,575 bytes as 1024.0KB.
  while (value >= 1023.95 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value.toFixed(1)}${UNITS[unit]}`;
}
