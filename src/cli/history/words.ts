import type { EntryState, Step } from '../../history/index.ts';
import { CONFLICT_WORDS } from '../../review/index.ts';
import { printable } from '../../runtime/printable.ts';
import type { Conflict, UndoAction, UndoEffect } from '../../undo/index.ts';
import { formatSize } from '../../wire/format-size.ts';

/** Says what a step did: `changed src/a.ts (1.2K → 1.4K)`. */
export function describeStep(step: Step): string {
  const { kind, before, after } = step;
  const path = printable(step.path);
  switch (kind) {
    case 'put':
      if (before === undefined) return `created ${entryName(path, after)}${sizes(after)}`;
      return `changed ${entryName(path, after)}${sizes(before, after)}${unkept(step)}`;
    case 'append':
      return `appended to ${path}${sizes(before, after)}`;
    case 'truncate':
      return `cut ${path}${sizes(before, after)}`;
    case 'remove':
      return `removed ${entryName(path, before)}${sizes(before)}${unkept(step)}`;
    case 'make':
      return `made folder ${path}/`;
    case 'unmake':
      return `removed empty folder ${path}/`;
    case 'move': {
      const to = entryName(printable(step.to ?? ''), before);
      return `moved ${entryName(path, before)} to ${to}${step.replaced === undefined ? '' : ', which was replaced'}`;
    }
  }
}

const EFFECTS: Readonly<Record<UndoEffect, string>> = {
  restore: 'bring back',
  revert: 'put back',
  make: 'make empty folder',
  remove: 'remove',
  move: 'move back',
  cut: 'cut off what was added to',
  extend: 'add again what was cut off',
};

/** Says what an action of an undo will do. */
export function describeAction({ effect, path, to, before, after, forced }: UndoAction): string {
  const name = entryName(printable(path), after ?? before);
  const target = to === undefined ? '' : ` to ${printable(to)}`;
  const size = effect === 'restore' ? sizes(after) : effect === 'move' ? '' : sizes(before, after);
  return `${EFFECTS[effect]} ${name}${target}${size}${forced ? ', although it was changed since (kept in the history)' : ''}`;
}

/** Says why an entry cannot be taken back. */
export function describeConflict({ reason, path, change, newer }: Conflict): string {
  const by = newer === undefined ? '' : `, by change ${newer}`;
  return `${printable(path)} ${CONFLICT_WORDS[reason]}${by} (change ${change})`;
}

function entryName(path: string, entry: EntryState | undefined): string {
  return entry?.type === 'directory' ? `${path}/` : path;
}

function sizes(...entries: readonly (EntryState | undefined)[]): string {
  const known = entries.filter((entry) => entry?.type === 'file').map((entry) => formatSize(entry?.size ?? 0, 'short'));
  return known.length === 0 ? '' : ` (${[...new Set(known)].join(' → ')})`;
}

function unkept({ unkept: why }: Step): string {
  return why === undefined ? '' : ', too large to be kept';
}

/** Writes a number with its noun: `1 change`, `3 changes`. */
export function count(number: number, noun: string): string {
  return `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;
}
