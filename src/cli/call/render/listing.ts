import { printable } from '../../../runtime/printable.ts';
import type { Style } from '../../terminal/colours.ts';
import type { Output } from '../../terminal/output.ts';
import { tableLines } from '../../terminal/table.ts';
import { type Fields, sizeOf, timeOf } from './fields.ts';

const STYLES: Readonly<Record<string, Style>> = { directory: 'cyan', symlink: 'magenta', other: 'yellow' };

/** Prints the entries of a folder: as a table, or as a tree if there are paths among the names. */
export function showListing(output: Output, entries: readonly Fields[]): void {
  if (entries.length === 0) output.line(output.style('dim', 'empty'));
  else if (entries.some(({ name }) => String(name).includes('/'))) showTree(output, entries);
  else showTable(output, entries);
}

function showTable(output: Output, entries: readonly Fields[]): void {
  const columns = tableLines(
    entries.map((entry) => [sizeOf(entry), timeOf(entry), '']),
    [0],
  );
  const width = Math.max(...columns.map((line) => line.length));
  for (const [at, entry] of entries.entries()) {
    const gap = width === 0 ? '' : '  ';
    output.line(
      output.style('dim', (columns[at] ?? '').padEnd(width)) + gap + nameOf(output, entry, String(entry.name)),
    );
  }
}

interface Node {
  readonly name: string;
  readonly entry: Fields | undefined;
  readonly children: Map<string, Node>;
}

function showTree(output: Output, entries: readonly Fields[]): void {
  const top: Node = { name: '', entry: undefined, children: new Map() };
  for (const entry of entries) {
    const names = String(entry.name).split('/');
    let node = top;
    for (const [at, name] of names.entries()) {
      const isLast = at === names.length - 1;
      const known = node.children.get(name);
      const next: Node =
        known === undefined || (isLast && known.entry === undefined)
          ? { name, entry: isLast ? entry : undefined, children: known?.children ?? new Map() }
          : known;
      node.children.set(name, next);
      node = next;
    }
  }
  showChildren(output, top, '');
}

function showChildren(output: Output, { children }: Node, indent: string): void {
  const all = [...children.values()];
  for (const [at, child] of all.entries()) {
    const isLast = at === all.length - 1;
    const entry = child.entry ?? { type: 'directory' };
    const size = sizeOf(entry);
    const line = `${output.style('dim', indent + (isLast ? '└── ' : '├── '))}${nameOf(output, entry, child.name)}`;
    output.line(size === '' ? line : `${line}  ${output.style('dim', size)}`);
    showChildren(output, child, indent + (isLast ? '    ' : '│   '));
  }
}

function nameOf(output: Output, entry: Fields, name: string): string {
  const { type, target_type: target, children_omitted: omitted } = entry;
  const shown = printable(name) + (type === 'directory' ? '/' : '');
  const style = STYLES[String(type)];
  const notes = [
    ...(target === undefined ? [] : [`→ ${String(target)}`]),
    ...(typeof omitted === 'number' ? [`… ${omitted} more`] : []),
  ];
  const painted = style === undefined ? shown : output.style(style, shown);
  return notes.length === 0 ? painted : `${painted} ${output.style('dim', notes.join(' '))}`;
}
