import type { RootState } from '../../data/api-types.ts';
import { formatBytes, formatSpan, plural } from '../../parts/format.ts';
import { goTo } from '../../parts/use-route.ts';

/** One root: what is allowed on it, its guards, and how large its history is. */
export function RootCard({ root }: { readonly root: RootState }) {
  const { name, kind, allowed_tools, read_only, guards, history } = root;
  return (
    <section class="panel card-root" aria-label={`Root ${name}`}>
      <header class="panel-head">
        <h3>{name}</h3>
        {kind === 'agent' && <span class="tag">on the client’s side</span>}
        {read_only && <span class="tag">read only</span>}
      </header>
      <dl class="facts">
        <dt>Guards</dt>
        <dd>{guardText(guards)}</dd>
        <dt>Asks about</dt>
        <dd>{guards.confirm.length === 0 ? 'nothing' : guards.confirm.join(', ')}</dd>
        <dt>History</dt>
        <dd>
          {history === null ? (
            'not kept'
          ) : (
            <>
              <button type="button" class="link" onClick={() => goTo('history', name)}>
                {plural(history.changes, 'change')}
              </button>
              , {formatBytes(history.kept_bytes)} of {formatBytes(history.max_bytes)}, for{' '}
              {formatSpan(history.keep_seconds * 1000)}
              <meter
                aria-label={`History of ${name}`}
                min={0}
                max={Math.max(1, history.max_bytes)}
                value={history.kept_bytes}
              />
            </>
          )}
        </dd>
      </dl>
      <details>
        <summary>{plural(allowed_tools.length, 'tool')} allowed</summary>
        <ul class="chips">
          {allowed_tools.map((tool) => (
            <li key={tool}>
              <code>{tool}</code>
            </li>
          ))}
        </ul>
      </details>
    </section>
  );
}

function guardText({ deny, protect }: RootState['guards']): string {
  const parts = [deny > 0 ? `${plural(deny, 'pattern')} denied` : '', protect > 0 ? `${protect} protected` : ''];
  return parts.filter(Boolean).join(', ') || 'none';
}
