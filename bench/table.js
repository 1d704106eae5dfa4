import { count, figure } from './figures.js';

/** What was compared, as `{ columns, lines }`. */
export function ratioTable(rows) {
  return {
    columns: ['work', '>ours', '>other', 'against', '>ratio', '>target', '', ''],
    lines: rows.map((row) => [
      row.work,
      figure(row.ours, row.unit),
      figure(row.theirs, row.unit),
      row.against,
      row.ratio.toFixed(2),
      row.target === undefined ? '' : `≤ ${row.target}`,
      mark(row),
      row.note ?? '',
    ]),
  };
}

/** One line for each kind of work, from its least ratio to its largest. */
export function slowerTable(rows) {
  const kinds = new Map();
  for (const row of rows) {
    const kind = `${row.work} ${row.against}`;
    kinds.set(kind, [...(kinds.get(kind) ?? []), row]);
  }
  return {
    columns: ['work', 'against', '>ratio'],
    lines: [...kinds.values()].map((of) => {
      const [least, most] = [Math.min, Math.max].map((pick) => pick(...of.map(({ ratio }) => ratio)).toFixed(2));
      return [of[0].work, of[0].against, least === most ? least : `${least} to ${most}`];
    }),
  };
}

/** How cost grows: a line for each size, with how much longer it took than a tenth of it. */
export function curveTable(curves) {
  return {
    columns: ['work', '>size', '', '>ours', '>other', 'against', '>times the one before'],
    lines: curves.flatMap(({ name, of, against, points }) =>
      points.map(({ size, ours, theirs }, index) => [
        name,
        count(size),
        of,
        figure(ours),
        figure(theirs),
        against,
        index === 0 ? '' : (ours / points[index - 1].ours).toFixed(1),
      ]),
    ),
  };
}

/** What so many clients at once get. */
export function loadTable(loads) {
  return {
    columns: ['HTTP', '>clients', '>calls/s', '>empty server', '>p50', '>p99', '>/health p50', '>/health p99'],
    lines: loads.map(({ era, clients, ours, theirs }) => [
      era,
      count(clients),
      count(ours.perSecond),
      count(theirs.perSecond),
      figure(ours.p50),
      figure(ours.p99),
      figure(ours.health50),
      figure(ours.health99),
    ]),
  };
}

/** Lines of text with aligned columns. A title that starts with `>` stands at the right. */
export function asText({ columns, lines }) {
  const right = columns.map((title) => title.startsWith('>'));
  const cells = [columns.map(titleOf), ...lines];
  const widths = columns.map((_, column) => Math.max(...cells.map((line) => line[column].length)));
  const format = (line) =>
    line.map((cell, column) => (right[column] ? cell.padStart(widths[column]) : cell.padEnd(widths[column])));
  return cells.map((line) => format(line).join('  ').trimEnd()).join('\n');
}

export function asMarkdown({ columns, lines }) {
  const rule = columns.map((title) => (title.startsWith('>') ? '---:' : '---'));
  return [columns.map(titleOf), rule, ...lines.map((line) => line.map(escaped))]
    .map((line) => `| ${line.join(' | ')} |`)
    .join('\n');
}

const titleOf = (title) => title.replace(/^>/, '');
const escaped = (cell) => cell.replaceAll('|', '\\|');

function mark({ agrees, met }) {
  if (!agrees) return 'WRONG RESULT';
  if (met === undefined) return '';
  return met ? 'met' : 'MISSED';
}
