import { DEFAULT_PROTECT } from '../../fence/index.ts';
import { printable } from '../../runtime/printable.ts';
import { CONFIRMABLE_CAPABILITIES } from '../../tools/capabilities.ts';
import { formatSize } from '../../wire/format-size.ts';
import type { Output } from '../terminal/output.ts';
import { tableLines } from '../terminal/table.ts';
import type { Checked } from './checked-config.ts';

const DEFAULT_WORDS = 'hooks and settings of git (default)';
const DAY_SECONDS = 24 * 60 * 60;

/** Prints what a config allows: its dialects, its roots, who may do what there, and what may not be intended. */
export function showTables(output: Output, checked: Checked): void {
  const { config, address, tokens, dialects, roots, access, warnings } = checked;
  output.line(config === null ? 'Folders without a config' : `Config ${printable(config)}`);
  output.line(tokens === null ? 'Over HTTP nobody needs a token' : `Over HTTP with the tokens ${tokens.join(', ')}`);
  showTable(output, 'Dialects', [
    ['dialect', 'at', 'roots'],
    ...dialects.map(({ name, path, roots: served }) => [
      name,
      address + path,
      served.join(', ') || "the client's own files",
    ]),
  ]);
  showTable(output, 'Roots', [
    ['root', 'folder', 'access', 'history'],
    ...roots.map((root) => [
      root.name,
      printable(root.folder ?? "the client's own files"),
      accessWord(root),
      historyWord(root),
    ]),
  ]);
  const rules = roots.flatMap(({ name, deny, protect, confirm }) => [
    ...deny.map((pattern) => [name, 'deny', printable(pattern), 'does not exist for clients']),
    ...(protect === DEFAULT_PROTECT ? [DEFAULT_WORDS] : protect.map(printable)).map((pattern) => [
      name,
      'protect',
      pattern,
      'may be read, not changed',
    ]),
    ...confirm.map((tool) => [name, 'confirm', tool, 'a person has to agree first']),
  ]);
  if (rules.length > 0) showTable(output, 'Rules', [['root', 'rule', 'for', 'meaning'], ...rules]);
  showTable(output, 'Who may do what', [
    ['client', 'root', 'dialect', 'tools'],
    ...access.map(({ client, root, dialect, tools, isAll }) => [
      client,
      root,
      dialect,
      isAll ? 'all' : tools.join(', ') || 'none',
    ]),
  ]);
  if (warnings.length > 0) output.line();
  for (const warning of warnings) output.line(`${output.style('yellow', 'warning:')} ${printable(warning)}`);
}

type CheckedRoot = Checked['roots'][number];

function accessWord({ read_only: readOnly, tools }: CheckedRoot): string {
  if (tools.length === 0) return 'none';
  if (readOnly) return 'read';
  return tools.some((tool) => CONFIRMABLE_CAPABILITIES.includes(tool)) ? 'read, write' : 'read';
}

function historyWord({ history }: CheckedRoot): string {
  if (history === null) return 'none';
  const seconds = history.keep_seconds;
  const time = seconds % DAY_SECONDS === 0 ? `${seconds / DAY_SECONDS}d` : `${seconds}s`;
  return `${time}, ${formatSize(history.max_bytes, 'short')}`;
}

function showTable(output: Output, title: string, rows: readonly (readonly string[])[]): void {
  const [head = '', ...lines] = tableLines(rows);
  output.line();
  output.line(output.style('bold', title));
  output.line(`  ${output.style('dim', head)}`);
  for (const line of lines) output.line(`  ${line}`);
}
