import { useEffect, useState } from 'preact/hooks';
import type { CallFilter } from '../../data/call-filter.ts';
import { ANY_CALL } from '../../data/call-filter.ts';
import { useSession } from '../../parts/use-session.ts';

/** Milliseconds after the last key press before the text is looked for. */
const TYPING_PAUSE = 120;

/** The fields that choose which calls are shown. */
export function CallFilters({ onChange }: { readonly onChange: () => void }) {
  const session = useSession('state', 'figures');
  const { filter } = session.calls;
  const [text, setText] = useState(filter.text);
  const set = (change: Partial<CallFilter>) => {
    session.calls.setFilter({ ...session.calls.filter, ...change });
    onChange();
  };
  useEffect(() => {
    if (text === session.calls.filter.text) return;
    const timer = setTimeout(() => set({ text }), TYPING_PAUSE);
    return () => clearTimeout(timer);
  }, [text]);
  const { state } = session;
  const clients = names([...(state?.clients.map(({ client }) => client) ?? []), filter.client]);
  const tools = names([
    ...session.figures.flatMap((one) => Object.keys(one.tools)),
    ...recentTools(session),
    filter.tool,
  ]);
  const isFiltered = Object.values(filter).some((value) => value !== '') || text !== '';
  return (
    <search class="filters">
      <input
        id="filter-text"
        type="search"
        placeholder="Filter by path, tool, client or code"
        aria-label="Filter by text"
        spellcheck={false}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape' && text !== '') setText('');
          if (event.key === 'ArrowDown') document.querySelector<HTMLElement>('.grid')?.focus();
        }}
      />
      <Choice label="Client" value={filter.client} values={clients} onChange={(client) => set({ client })} />
      <Choice label="Tool" value={filter.tool} values={tools} onChange={(tool) => set({ tool })} />
      <Choice label="Root" value={filter.root} values={state?.me.roots ?? []} onChange={(root) => set({ root })} />
      <Choice
        label="Outcome"
        value={filter.outcome}
        values={['success', 'error', 'violation']}
        onChange={(outcome) => set({ outcome: outcome as CallFilter['outcome'] })}
      />
      {isFiltered && (
        <button
          type="button"
          class="button small"
          onClick={() => {
            setText('');
            set(ANY_CALL);
          }}
        >
          Clear
        </button>
      )}
    </search>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly values: readonly string[];
  readonly onChange: (value: string) => void;
}

function Choice({ label, value, values, onChange }: ChoiceProps) {
  return (
    <select
      aria-label={label}
      class={value === '' ? '' : 'is-set'}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    >
      <option value="">{label}: any</option>
      {values.map((one) => (
        <option key={one} value={one}>
          {one}
        </option>
      ))}
    </select>
  );
}

function recentTools({ calls: { shown } }: ReturnType<typeof useSession>): string[] {
  return Array.from({ length: Math.min(500, shown.length) }, (_, index) => shown.at(index)?.tool ?? '');
}

function names(all: readonly string[]): string[] {
  return [...new Set(all)].filter(Boolean).sort((one, other) => one.localeCompare(other));
}
