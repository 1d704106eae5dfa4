import type { ComponentChildren } from 'preact';
import type { CacheState, ClientState, TokenState } from '../../data/api-types.ts';
import { formatBytes, formatNumber, formatSpan } from '../../parts/format.ts';

/** Who calls, most recent first. */
export function ClientTable({ clients, now }: { readonly clients: readonly ClientState[]; readonly now: number }) {
  const ordered = [...clients].sort((one, other) => other.last_seen - one.last_seen);
  return (
    <Table
      label="Clients"
      columns={['Client', 'Token', '#Sessions', '#Calls', '#Errors', '#Violations', 'Last seen']}
      empty="No client has called yet."
      rows={ordered.map((one) => [
        one.client,
        one.token ?? '–',
        formatNumber(one.sessions),
        formatNumber(one.calls),
        formatNumber(one.errors),
        one.violations > 0 ? <strong class="bad">{formatNumber(one.violations)}</strong> : '0',
        `${formatSpan(now - one.last_seen)} ago`,
      ])}
    />
  );
}

/** The tokens of the configuration; never the secrets themselves. */
export function TokenTable({ tokens }: { readonly tokens: readonly TokenState[] }) {
  return (
    <Table
      label="Tokens"
      columns={['Name', 'Roots', 'Console']}
      empty="No tokens are configured."
      rows={tokens.map(({ name, roots, console }) => [name, roots.join(', '), console ? 'yes' : 'no'])}
    />
  );
}

/** How full the caches are, and how often they spared a question. */
export function CacheTable({ caches }: { readonly caches: readonly CacheState[] }) {
  return (
    <Table
      label="Caches"
      columns={['Root', '#Entries', '#Size', '#Hit rate']}
      empty="No root has a cache."
      rows={caches.map(({ root, entries, bytes, max_bytes, hits, misses }) => [
        root,
        formatNumber(entries),
        `${formatBytes(bytes)} of ${formatBytes(max_bytes)}`,
        hits + misses === 0 ? '–' : `${Math.round((hits / (hits + misses)) * 100)} %`,
      ])}
    />
  );
}

interface TableProps {
  readonly label: string;
  /** Titles; one that starts with # is of a column of numbers. */
  readonly columns: readonly string[];
  readonly rows: readonly (readonly ComponentChildren[])[];
  readonly empty: string;
}

function Table({ label, columns, rows, empty }: TableProps) {
  if (rows.length === 0) return <p class="panel empty">{empty}</p>;
  const titles = columns.map((title) => title.replace('#', ''));
  const nameOf = (index: number) => (columns[index]?.startsWith('#') ? 'number' : '');
  return (
    <div class="panel">
      <table class="stacked" aria-label={label}>
        <thead>
          <tr>
            {titles.map((title, index) => (
              <th key={title} scope="col" class={nameOf(index)}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={row}>
              {cells.map((cell, index) => (
                <td key={titles[index]} class={nameOf(index)} data-title={titles[index]}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
