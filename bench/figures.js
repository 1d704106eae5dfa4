/** A time, an amount of memory or a number of characters as a person reads it. */
export function figure(value, unit = 'ms') {
  if (unit === 'bytes') return `${(value / 2 ** 20).toFixed(1)} MiB`;
  if (unit === 'characters') return count(value);
  if (value >= 10) return `${value.toFixed(0)} ms`;
  return value >= 1 ? `${value.toFixed(1)} ms` : `${(value * 1000).toFixed(0)} µs`;
}

export const count = (value) => Math.round(value).toLocaleString('en');

/** What a run worked on, in words. */
export function dataInWords(data) {
  return Object.entries(data)
    .map(([name, { bytes }]) => (bytes ? `${name} (${count(bytes / 1e6)} MB)` : name))
    .join(', ');
}
