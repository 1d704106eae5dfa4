import { count, figure } from './figures.js';

const PANEL = { width: 250, height: 190, left: 56, right: 30, top: 34, bottom: 34 };
const COLUMNS = 3;
const LEGEND_HEIGHT = 26;

const STYLE = `
  text { font: 11px system-ui, sans-serif; fill: #57606a }
  .title { font-weight: 600; fill: #1f2328 }
  .grid { stroke: #d0d7de; stroke-width: 1 }
  .ours { stroke: #0969da }
  .theirs { stroke: #bc4c00 }
  .linear { stroke: #8c959f; stroke-dasharray: 3 3 }
  polyline { fill: none; stroke-width: 1.8 }
  @media (prefers-color-scheme: dark) {
    text { fill: #9198a1 }
    .title { fill: #f0f6fc }
    .grid { stroke: #3d444d }
    .ours { stroke: #4493f8 }
    .theirs { stroke: #f0883e }
  }`;

/** The curves of a run as a picture: a panel each, both axes logarithmic, so that cost in proportion to size is the dashed slope. */
export function chart({ curves, loads }) {
  const panels = [...curves.map(growthPanel), ...loadPanels(loads)];
  const width = COLUMNS * PANEL.width;
  const height = LEGEND_HEIGHT + Math.ceil(panels.length / COLUMNS) * PANEL.height;
  const placed = panels.map((panel, index) => {
    const x = (index % COLUMNS) * PANEL.width;
    const y = LEGEND_HEIGHT + Math.floor(index / COLUMNS) * PANEL.height;
    return `<g transform="translate(${x} ${y})">${drawPanel(panel)}</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="How cost grows">
<style>${STYLE}
</style>
${legend()}
${placed.join('\n')}
</svg>
`;
}

const growthPanel = ({ name, of, against, points }) => ({
  title: `${name}, against ${against}`,
  axis: of,
  points,
  label: figure,
});

/** Calls a second, for each era of the protocol. */
function loadPanels(loads) {
  return [...new Set(loads.map(({ era }) => era))].map((era) => ({
    title: `HTTP ${era}: calls a second`,
    axis: 'clients at once',
    points: loads
      .filter((load) => load.era === era)
      .map(({ clients, ours, theirs }) => ({ size: clients, ours: ours.perSecond, theirs: theirs.perSecond })),
    label: count,
    flat: true,
  }));
}

function drawPanel({ title, axis, points, label, flat }) {
  const x = scaleOf(
    points.map(({ size }) => size),
    [PANEL.left, PANEL.width - PANEL.right],
  );
  const y = scaleOf(
    points.flatMap(({ ours, theirs }) => [ours, theirs]),
    [PANEL.height - PANEL.bottom, PANEL.top],
  );
  const line = (who) => points.map((point) => `${x.at(point.size)},${y.at(point[who])}`).join(' ');
  const dots = (who) =>
    points.map(
      (point) => `<circle class="${who}" cx="${x.at(point.size)}" cy="${y.at(point[who])}" r="1.5" stroke-width="3"/>`,
    );
  return [
    `<text class="title" x="${PANEL.left}" y="16">${title}</text>`,
    ...y.ticks.map(
      (value) =>
        `<line class="grid" x1="${PANEL.left}" x2="${PANEL.width - PANEL.right}" y1="${y.at(value)}" y2="${y.at(value)}"/>` +
        `<text x="${PANEL.left - 6}" y="${y.at(value) + 4}" text-anchor="end">${label(value)}</text>`,
    ),
    ...points.map(
      ({ size }) => `<text x="${x.at(size)}" y="${PANEL.height - 18}" text-anchor="middle">${count(size)}</text>`,
    ),
    `<text x="${(PANEL.left + PANEL.width - PANEL.right) / 2}" y="${PANEL.height - 4}" text-anchor="middle">${axis}</text>`,
    flat ? '' : proportion(points, x, y),
    `<polyline class="theirs" points="${line('theirs')}"/>`,
    `<polyline class="ours" points="${line('ours')}"/>`,
    ...dots('theirs'),
    ...dots('ours'),
  ].join('\n');
}

/** Our first point, carried on in proportion to size, as far as the panel goes. */
function proportion(points, x, y) {
  const [first] = points;
  const most = Math.min(points.at(-1).size / first.size, y.ticks.at(-1) / first.ours);
  const to = `${x.at(first.size * most)},${y.at(first.ours * most)}`;
  return `<polyline class="linear" points="${x.at(first.size)},${y.at(first.ours)} ${to}"/>`;
}

/** A logarithmic scale over whole powers of ten around the values. */
function scaleOf(values, [from, to]) {
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))));
  const at = (value) => round(from + ((Math.log10(value) - low) / (high - low)) * (to - from));
  return { at, ticks: Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index)) };
}

const round = (value) => Math.round(value * 10) / 10;

function legend() {
  const entries = [
    ['ours', 'Ringfence'],
    ['theirs', 'the other'],
    ['linear', 'ten times the work, ten times the time'],
  ];
  return entries
    .map(
      ([name, text], index) =>
        `<line class="${name}" x1="${PANEL.left + index * 120}" x2="${PANEL.left + 24 + index * 120}" y1="13" y2="13" stroke-width="2"/>` +
        `<text x="${PANEL.left + 30 + index * 120}" y="17">${text}</text>`,
    )
    .join('\n');
}
