import { type HistoryStatistics, historyStatistics } from '../../history/limits/statistics.ts';
import { formatSize } from '../../wire/format-size.ts';
import { localTime } from '../terminal/local-time.ts';
import type { Output } from '../terminal/output.ts';
import type { Target } from './targets.ts';
import { count } from './words.ts';

const DAY_MS = 86_400_000;

/** Prints how much the histories of roots hold, and since when. */
export async function showStatistics(output: Output, targets: readonly Target[], isJson: boolean): Promise<void> {
  const found: [string, HistoryStatistics][] = [];
  for (const { name, history } of targets) found.push([name, await historyStatistics(history)]);
  if (isJson) output.json(found.map(([root, facts]) => statisticsJson(root, facts)));
  else for (const [root, facts] of found) for (const line of statisticsLines(output, root, facts)) output.line(line);
  await output.flushed();
}

function statisticsLines(output: Output, root: string, facts: HistoryStatistics): string[] {
  const { changes, steps, keptFiles, keptBytes, logBytes, oldest, newest, isCut, limits, checkpoints } = facts;
  const names = checkpoints.map(({ name }) => name).join(', ');
  const rows: [string, string][] = [
    ['changes', `${changes.toLocaleString('en')} (${count(steps, 'step')})`],
    ['kept', `${count(keptFiles, 'file')}, ${formatSize(keptBytes)} of at most ${formatSize(limits.maxBytes)}`],
    ['log', formatSize(logBytes)],
    ['oldest', oldest === undefined ? 'none' : `${localTime(oldest)}${isCut ? ' (older ones were removed)' : ''}`],
    ['newest', newest === undefined ? 'none' : localTime(newest)],
    ['kept for', count(Math.round((limits.keepMs / DAY_MS) * 10) / 10, 'day')],
    ['checkpoints', names || 'none'],
  ];
  const width = Math.max(...rows.map(([label]) => label.length));
  return [output.style('bold', `${root}:`), ...rows.map(([label, value]) => `  ${label.padEnd(width)}  ${value}`)];
}

function statisticsJson(root: string, facts: HistoryStatistics): object {
  const iso = (time: number | undefined): string | null => (time === undefined ? null : new Date(time).toISOString());
  const { changes, steps, keptFiles, keptBytes, logBytes, oldest, newest, isCut, limits } = facts;
  return {
    root,
    changes,
    steps,
    kept_files: keptFiles,
    kept_bytes: keptBytes,
    log_bytes: logBytes,
    oldest: iso(oldest),
    newest: iso(newest),
    is_cut: isCut,
    keep_seconds: limits.keepMs / 1000,
    max_bytes: limits.maxBytes,
    over: limits.over,
    checkpoints: facts.checkpoints.map(({ name, time }) => ({ name, time: iso(time) })),
  };
}
