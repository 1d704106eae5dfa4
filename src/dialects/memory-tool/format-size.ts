const UNITS = ['K', 'M', 'G', 'T'];

/** A size as the tool's documentation shows it: `36B`, `4.0K`, `1.2M`. */
export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes}B`;
  let value = bytes / 1024;
  let unit = 0;
  // What would round up to 1024.0 belongs to the next unit.
  while (value >= 1023.95 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value.toFixed(1)}${UNITS[unit]}`;
}
