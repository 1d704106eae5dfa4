const UNITS = ['KB', 'MB', 'GB', 'TB'];

/** A size for a message: `500 bytes`, `5.2MB`. */
export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  let value = bytes / 1024;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value.toFixed(1)}${UNITS[unit]}`;
}
