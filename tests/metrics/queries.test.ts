import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Scrape } from '../support/prometheus-text.ts';
import { parseQuery } from '../support/promql.ts';
import { BusyServer } from './busy-server.ts';

const TOP = fileURLToPath(new URL('../..', import.meta.url));
const text = (file: string) => fs.readFileSync(path.join(TOP, 'deploy', file), 'utf8');

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: Readonly<Record<string, string>>;
}
interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

const rules: readonly Rule[] = parse(text('prometheus/alerts.yaml')).groups.flatMap(
  ({ rules }: { rules: Rule[] }) => rules,
);
const dashboard = JSON.parse(text('grafana/ringfence.json'));
const panels: readonly Panel[] = dashboard.panels;
const variables: readonly string[] = dashboard.templating.list.map(({ name }: { name: string }) => name);

/** What Prometheus adds to every metric by itself, and the metric that it makes. */
const ADDED_LABELS = ['job', 'instance'];
const OWN_METRICS = ['up'];
/** What only happens where there is a bug. */
const UNSEEN = [['code', 'internal']];

/** What is wrong with a query, seen from what a server really reports. */
function problemsOf(expr: string, scrape: Scrape): string[] {
  const query = parseQuery(expr.replaceAll('$__rate_interval', '5m').replaceAll('$job', '.*'));
  const known = new Set(ADDED_LABELS);
  const problems: string[] = [];
  for (const { metric, labels } of query.selectors.filter(({ metric }) => !OWN_METRICS.includes(metric))) {
    const samples = scrape.find(metric);
    if (samples.length === 0) problems.push(`no metric ${metric}`);
    for (const name of samples.flatMap((sample) => Object.keys(sample.labels))) known.add(name);
    for (const [label, value] of labels) {
      if (ADDED_LABELS.includes(label)) continue;
      if (!samples.some((sample) => label in sample.labels)) problems.push(`${metric} has no label ${label}`);
      const isUnseen = UNSEEN.some(([name, only]) => name === label && only === value);
      if (value !== undefined && !isUnseen && scrape.find(metric, { [label]: value }).length === 0)
        problems.push(`${metric} has no ${label}="${value}"`);
    }
  }
  for (const label of query.grouping) if (!known.has(label)) problems.push(`no label ${label} to group by`);
  if (query.selectors.length === 0) problems.push('reads no metric');
  return problems;
}

let busy: BusyServer;
let scrape: Scrape;

beforeAll(async () => {
  busy = await BusyServer.start();
  scrape = await busy.scrape();
});
afterAll(() => busy?.[Symbol.asyncDispose]());

test.each([
  ['rate(ringfence_cals_total[5m])', 'no metric ringfence_cals_total'],
  ['sum by (tol) (ringfence_calls_total)', 'no label tol to group by'],
  ['ringfence_calls_total{outcom="error"}', 'ringfence_calls_total has no label outcom'],
  ['ringfence_calls_total{outcome="eror"}', 'ringfence_calls_total has no outcome="eror"'],
  ['1 + 1', 'reads no metric'],
])('a wrong query would be noticed: %s', (expr, problem) => {
  expect(problemsOf(expr, scrape)).toContain(problem);
});

test('so would one that is no PromQL', () => {
  expect(() => problemsOf('sum by (', scrape)).toThrow('not PromQL');
});

describe('each alert', () => {
  test('there are some, each once', () => {
    expect(rules.length).toBeGreaterThan(8);
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  });

  test.each(rules)('$alert asks for what there is, and says what to do', ({ expr, labels, annotations }) => {
    expect(problemsOf(expr, scrape)).toEqual([]);
    expect(['critical', 'warning', 'info']).toContain(labels.severity);
    expect([annotations.summary, annotations.description]).toEqual([expect.any(String), expect.any(String)]);
  });
});

describe('each panel of the dashboard', () => {
  test.each(panels.filter(({ type }) => type !== 'row'))('$title asks for what there is', ({ targets = [] }) => {
    expect(targets.length).toBeGreaterThan(0);
    for (const { expr, legendFormat } of targets) {
      expect(problemsOf(expr, scrape)).toEqual([]);
      const { grouping } = parseQuery(expr.replaceAll('$__rate_interval', '5m'));
      for (const [, label] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) expect(grouping).toContain(label);
    }
  });

  test('has its own id and place, and knows its variables', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, i) => `${x + (i % w)} ${y + Math.floor(i / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    const used = [...text('grafana/ringfence.json').matchAll(/\$\{?(\w+)/g)].map(([, name = '']) => name);
    expect(new Set(used)).toEqual(new Set([...variables, '__rate_interval']));
  });

  test('every metric of ringfence is in a panel or an alert', () => {
    const queries = [...rules, ...panels.flatMap(({ targets = [] }) => targets)].map(({ expr }) => expr).join('\n');
    const own = [...scrape.types.keys()].filter((name) => name.startsWith('ringfence_'));
    const LEFT_OUT = [
      'agent_cache_clients',
      'agent_cache_entries',
      'agent_cache_evictions_total',
      'history_kept_files',
      'history_log_bytes',
    ];
    const unused = own.filter((name) => !queries.includes(name) && name !== 'ringfence_build_info');
    expect(unused.sort()).toEqual(LEFT_OUT.map((name) => `ringfence_${name}`));
  });
});
