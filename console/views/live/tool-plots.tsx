import { useMemo, useRef, useState } from 'preact/hooks';
import type { Figures } from '../../data/api-types.ts';
import { formatDuration, formatNumber } from '../../parts/format.ts';
import { Plot } from '../../parts/plot.tsx';
import type { Summary } from './summary.ts';

/** As many tools as have a line and a colour of their own. */
const MAX_LINES = 8;

interface ToolPlotsProps {
  readonly summary: Summary;
  readonly figures: readonly Figures[];
  readonly theme: string;
}

/** Calls per second and latency by tool, with a table of the same figures that is their legend. */
export function ToolPlots({ summary, figures, theme }: ToolPlotsProps) {
  const [percentile, setPercentile] = useState<'p50' | 'p95'>('p95');
  const colours = useColours(summary);
  const times = useMemo(() => figures.map(({ time }) => Math.round(time / 1000)), [figures]);
  const lines = [...colours].sort(([one], [other]) => one.localeCompare(other));
  const calls = useMemo(
    () =>
      lines.map(([label, colour]) => ({
        label,
        colour,
        values: figures.map(({ tools }) => tools[label]?.calls ?? 0),
      })),
    [figures, lines.length],
  );
  const latency = useMemo(
    () =>
      lines.map(([label, colour]) => ({
        label,
        colour,
        values: figures.map(({ tools }) => {
          const one = tools[label];
          return one === undefined || one.calls === 0 ? null : Math.max(0.01, one[percentile]);
        }),
      })),
    [figures, percentile, lines.length],
  );
  return (
    <div class="plots">
      <section class="panel">
        <header class="panel-head">
          <h2>Calls per second</h2>
          <span class="faint">by tool, last 5 minutes</span>
        </header>
        <Plot
          label={`Calls per second by tool. ${formatNumber(summary.callsPerSecond)} now. The table has the figures.`}
          times={times}
          series={calls}
          format={formatNumber}
          theme={theme}
        />
      </section>
      <section class="panel">
        <header class="panel-head">
          <h2>Latency</h2>
          <span class="push" />
          <fieldset class="segments">
            <legend class="hidden">Percentile</legend>
            {(['p50', 'p95'] as const).map((one) => (
              <label key={one}>
                <input
                  type="radio"
                  name="percentile"
                  checked={percentile === one}
                  onChange={() => setPercentile(one)}
                />
                <span>{one}</span>
              </label>
            ))}
          </fieldset>
        </header>
        <Plot
          label={`Latency by tool, ${percentile}. The table has the figures.`}
          times={times}
          series={latency}
          format={formatDuration}
          isLogarithmic
          theme={theme}
        />
      </section>
      <section class="panel tool-table">
        <header class="panel-head">
          <h2>Tools</h2>
        </header>
        <table>
          <thead>
            <tr>
              <th scope="col">Tool</th>
              <th scope="col" class="number">
                Calls
              </th>
              <th scope="col" class="number">
                p50
              </th>
              <th scope="col" class="number">
                p95
              </th>
            </tr>
          </thead>
          <tbody>
            {summary.tools.length === 0 && (
              <tr>
                <td colSpan={4} class="empty">
                  No calls in the last 5 minutes.
                </td>
              </tr>
            )}
            {summary.tools.slice(0, 12).map(({ tool, calls, p50, p95 }) => (
              <tr key={tool}>
                <td>
                  <span class={`swatch ink-${colours.get(tool) ?? 'line'}`} aria-hidden="true" />
                  <code>{tool}</code>
                </td>
                <td class="number">{formatNumber(calls)}</td>
                <td class="number">{formatDuration(p50)}</td>
                <td class="number">{formatDuration(p95)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </div>
  );
}

/** Gives the busiest tools a colour each, which they keep while they are shown. */
function useColours({ tools }: Summary): ReadonlyMap<string, number> {
  const colours = useRef(new Map<string, number>());
  const shown = tools.slice(0, MAX_LINES).map(({ tool }) => tool);
  for (const tool of colours.current.keys()) if (!shown.includes(tool)) colours.current.delete(tool);
  for (const tool of shown) {
    if (colours.current.has(tool)) continue;
    const used = [...colours.current.values()];
    colours.current.set(tool, [...Array(MAX_LINES).keys()].find((colour) => !used.includes(colour)) ?? 0);
  }
  return colours.current;
}
