import type { Figures } from '../../data/api-types.ts';

/** What a tool did in the plotted time. Percentiles are those of its seconds, weighted by their calls. */
interface ToolSummary {
  readonly tool: string;
  readonly calls: number;
  readonly p50: number;
  readonly p95: number;
}

export interface Summary {
  /** In the last second that had figures, averaged over three. */
  readonly callsPerSecond: number;
  readonly calls: number;
  readonly errors: number;
  readonly violations: number;
  /** By calls, most first. */
  readonly tools: readonly ToolSummary[];
  readonly slowest: { readonly tool: string; readonly p95: number };
}

/** Adds up the figures of the plotted seconds. */
export function summarise(figures: readonly Figures[]): Summary {
  const sum = (pick: (one: Figures) => number) => figures.reduce((total, one) => total + pick(one), 0);
  const byTool = new Map<string, { calls: number; p50: number; p95: number }>();
  for (const { tools } of figures) {
    for (const [tool, { calls, p50, p95 }] of Object.entries(tools)) {
      const total = byTool.get(tool) ?? { calls: 0, p50: 0, p95: 0 };
      total.calls += calls;
      total.p50 += p50 * calls;
      total.p95 += p95 * calls;
      byTool.set(tool, total);
    }
  }
  const tools = [...byTool]
    .map(([tool, { calls, p50, p95 }]) => ({ tool, calls, p50: p50 / calls, p95: p95 / calls }))
    .filter(({ calls }) => calls > 0)
    .sort((one, other) => other.calls - one.calls || one.tool.localeCompare(other.tool));
  const recent = figures.slice(-3);
  return {
    callsPerSecond: recent.reduce((total, { calls }) => total + calls, 0) / Math.max(1, recent.length),
    calls: sum(({ calls }) => calls),
    errors: sum(({ errors }) => errors),
    violations: sum(({ violations }) => violations),
    tools,
    slowest: tools.reduce((worst, one) => (one.p95 > worst.p95 ? one : worst), { tool: 'no calls yet', p95: 0 }),
  };
}
