/** The value that so many percent of the sorted values do not exceed. */
export function percentile(sorted, percent) {
  if (sorted.length === 0) return Number.NaN;
  return sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)];
}
