import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';

interface PlotSeries {
  readonly label: string;
  /** The number of its colour, from 0. */
  readonly colour: number;
  readonly values: readonly (number | null)[];
}

interface PlotProps {
  /** What it shows, for those who do not see it. */
  readonly label: string;
  /** Seconds since 1970, ascending. */
  readonly times: readonly number[];
  readonly series: readonly PlotSeries[];
  readonly format: (value: number) => string;
  /** A logarithmic axis, for values that differ by orders of magnitude. */
  readonly isLogarithmic?: boolean;
  /** Draws anew when it changes: colours are read from the style sheet at that moment. */
  readonly theme: string;
}

/** Lines over time. */
export function Plot({ label, times, series, format, isLogarithmic = false, theme }: PlotProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const shape = `${theme} ${isLogarithmic} ${series.map(({ label, colour }) => `${label}:${colour}`).join()}`;
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    plot.current = new uPlot(optionsOf(element, series, format, isLogarithmic), dataOf(times, series), element);
    const observer = new ResizeObserver(() => plot.current?.setSize(sizeOf(element)));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [shape]);
  useEffect(() => plot.current?.setData(dataOf(times, series)), [times, series]);
  return <div class="plot" role="img" aria-label={label} ref={box} />;
}

function dataOf(times: readonly number[], series: readonly PlotSeries[]): uPlot.AlignedData {
  return [[...times], ...series.map(({ values }) => [...values])];
}

function sizeOf({ clientWidth, clientHeight }: HTMLElement): { width: number; height: number } {
  return { width: Math.max(80, clientWidth), height: Math.max(80, clientHeight) };
}

function optionsOf(
  element: HTMLElement,
  series: readonly PlotSeries[],
  format: (value: number) => string,
  isLogarithmic: boolean,
): uPlot.Options {
  const [text, line] = [colourOf(element, 'ink-text'), colourOf(element, 'ink-line')];
  const font = '11px system-ui, sans-serif';
  const axis = { stroke: text, font, grid: { stroke: line, width: 1 }, ticks: { show: false } };
  return {
    ...sizeOf(element),
    padding: [8, 28, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { size: 6 }, drag: { x: false, y: false } },
    scales: isLogarithmic ? { y: { distr: 3, range: logRange } } : { y: { range: (_, __, max) => [0, niceMax(max)] } },
    axes: [
      { ...axis, size: 30, grid: { show: false }, space: 70, values: (_, splits) => splits.map(clock) },
      { ...axis, size: 56, values: (_, splits) => splits.map((value) => (value == null ? '' : format(value))) },
    ],
    series: [
      {},
      ...series.map(({ label, colour }) => ({
        label,
        stroke: colourOf(element, `ink-${colour}`),
        width: 1.5,
        spanGaps: true,
        points: { show: false },
      })),
    ],
  };
}

function clock(seconds: number): string {
  return new Date(seconds * 1000).toLocaleTimeString('en-GB', {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
}

function niceMax(max: number | null): number {
  return Math.max(4, (max ?? 0) * 1.1);
}

/** Whole powers of ten around the values. */
function logRange(_: uPlot, min: number | null, max: number | null): [number, number] {
  const floor = (value: number) => 10 ** Math.floor(Math.log10(value));
  const low = floor(Math.max(0.01, min ?? 1));
  return [low, Math.max(low * 10, 10 ** Math.ceil(Math.log10(Math.max(0.1, max ?? 10))))];
}

/** The colour that the style sheet gives a class, as a canvas needs it. */
function colourOf(parent: HTMLElement, name: string): string {
  const probe = document.createElement('span');
  probe.className = name;
  parent.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
