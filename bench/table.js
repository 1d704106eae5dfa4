const COLUMNS = [
  { title: 'work', of: ({ work }) => work },
  { title: 'ours', of: (row) => figure(row.ours, row.unit), right: true },
  { title: 'against', of: (row) => figure(row.theirs, row.unit), right: true },
  { title: '', of: ({ against }) => against },
  { title: 'ratio', of: ({ ratio }) => ratio.toFixed(2), right: true },
  { title: 'target', of: ({ target }) => (target === undefined ? '' : `≤ ${target}`), right: true },
  { title: '', of: (row) => mark(row) },
  { title: '', of: ({ note }) => note ?? '' },
];

/** Rows as lines of text with aligned columns. */
export function table(rows) {
  const cells = [COLUMNS.map(({ title }) => title), ...rows.map((row) => COLUMNS.map(({ of }) => of(row)))];
  const widths = COLUMNS.map((_, column) => Math.max(...cells.map((line) => line[column].length)));
  const format = (line) =>
    line.map((cell, column) => (COLUMNS[column].right ? cell.padStart(widths[column]) : cell.padEnd(widths[column])));
  return cells.map((line) => format(line).join('  ').trimEnd()).join('\n');
}

function mark({ agrees, met }) {
  if (!agrees) return 'WRONG RESULT';
  if (met === undefined) return '';
  return met ? 'met' : 'MISSED';
}

function figure(value, unit) {
  if (unit === 'bytes') return `${(value / 2 ** 20).toFixed(1)} MiB`;
  if (value >= 10) return `${value.toFixed(0)} ms`;
  return value >= 1 ? `${value.toFixed(1)} ms` : `${(value * 1000).toFixed(0)} µs`;
}
