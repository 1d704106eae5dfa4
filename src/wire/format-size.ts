const STYLES = {
  long: [' bytes', 'KB', 'MB', 'GB', 'TB'],
  short: ['B', 'K', 'M', 'G', 'T'],
} as const;

/** Formats a size for people, in units of 1024: `500 bytes` and `5.2MB`, or in the short style `500B` and `5.2M`. */
export function formatSize(bytes: number, style: keyof typeof STYLES = 'long'): string {
  const units = STYLES[style];
  if (bytes < 1024) return `${bytes}${units[0]}`;
  let value = bytes / 1024;
  let unit = 1;
  // With 1024 as the bound, 1,048,575 bytes would be rounded to 1024.0KB.
  while (value >= 1023.95 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value.toFixed(1)}${units[unit]}`;
}
