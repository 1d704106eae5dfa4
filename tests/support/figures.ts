import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { inject } from 'vitest';
import type { TestProject } from 'vitest/node';

/** A figure that a test measured. */
interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    /** The file that collects the figures of a run, one JSON object a line. */
    figuresFile: string;
  }
}

/** Records a figure for the table that is printed at the end of the run. `unit` is what is counted or measured: `calls`, `ms`. */
export function recordFigure(name: string, value: number, unit: string): void {
  const figure: Figure = { name, value, unit };
  fs.appendFileSync(inject('figuresFile'), `${JSON.stringify(figure)}\n`);
}

/** Vitest's global set-up. Collects the figures of all test files, and prints them in one table once all tests have run. */
export default function collectFigures({ provide }: TestProject): () => void {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'ringfence-figures-'));
  const file = path.join(folder, 'figures.jsonl');
  fs.writeFileSync(file, '');
  provide('figuresFile', file);
  return () => {
    const lines = fs.readFileSync(file, 'utf8').split('\n').filter(Boolean);
    fs.rmSync(folder, { recursive: true });
    if (lines.length > 0) process.stdout.write(`\n${figureTable(lines.map((line) => JSON.parse(line)))}\n`);
  };
}

/** Formats figures as a Markdown table, sorted by name. */
function figureTable(figures: readonly Figure[]): string {
  const rows = figures
    .map(({ name, value, unit }) => [name, `${formatNumber(value)} ${unit}`] as const)
    .sort(([one], [other]) => one.localeCompare(other, 'en'));
  const width = Math.max(...rows.map(([name]) => name.length), 'figure'.length);
  const right = Math.max(...rows.map(([, shown]) => shown.length), 'measured'.length);
  const line = (name: string, shown: string): string => `| ${name.padEnd(width)} | ${shown.padStart(right)} |`;
  return [
    line('figure', 'measured'),
    `| ${'-'.repeat(width)} | ${'-'.repeat(right - 1)}: |`,
    ...rows.map(([name, shown]) => line(name, shown)),
  ].join('\n');
}

function formatNumber(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: Math.abs(value) < 10 ? 2 : 0 });
}
