import { useEffect } from 'preact/hooks';
import { formatSpan } from '../../parts/format.ts';
import { useNow } from '../../parts/use-now.ts';
import { useSession } from '../../parts/use-session.ts';
import { RootCard } from './root-card.tsx';
import { CacheTable, ClientTable, TokenTable } from './tables.tsx';

const REFRESH = 5000;

/** The roots with what is allowed on them, who is connected, and the caches. */
export function RootsView() {
  const session = useSession('state');
  const now = useNow(REFRESH);
  useEffect(() => {
    void session.refresh();
    const timer = setInterval(() => void session.refresh(), REFRESH);
    return () => clearInterval(timer);
  }, [session]);
  const { state } = session;
  if (state === undefined) return <p class="empty">Loading…</p>;
  return (
    <>
      <h2 class="section">Roots</h2>
      <div class="cards">
        {state.roots.map((root) => (
          <RootCard key={root.name} root={root} />
        ))}
      </div>
      <h2 class="section">Clients</h2>
      <ClientTable clients={state.clients} now={now} />
      <div class="pair">
        <div>
          <h2 class="section">Tokens</h2>
          <TokenTable tokens={state.tokens} />
        </div>
        <div>
          <h2 class="section">Caches</h2>
          <CacheTable caches={state.cache} />
        </div>
      </div>
      <p class="faint about">
        Ringfence {state.version}, started {formatSpan(now - state.started)} ago. You are signed in as {state.me.name}.
      </p>
    </>
  );
}
