import { useEffect } from 'preact/hooks';
import { Icon } from './parts/icon.tsx';
import { Tabs } from './parts/tabs.tsx';
import { goTo, useRoute, type View } from './parts/use-route.ts';
import { useSession } from './parts/use-session.ts';
import { useTheme } from './parts/use-theme.ts';
import { CallsView } from './views/calls/calls-view.tsx';
import { HistoryView } from './views/history/history-view.tsx';
import { LiveView } from './views/live/live-view.tsx';
import { RootsView } from './views/roots/roots-view.tsx';
import { SignIn } from './views/sign-in.tsx';

const TITLES = { live: 'Live', calls: 'Calls', history: 'History', roots: 'Roots & clients' } as const;

/** The whole page: the sign-in, or the bar with its tabs and one view. */
export function App() {
  const session = useSession('phase', 'state', 'approvals');
  const { view, rest } = useRoute();
  const theme = useTheme();
  const waiting = session.approvals.length;
  useEffect(() => {
    const title = session.phase === 'signed-in' ? TITLES[view] : 'Sign in';
    document.title = `${waiting > 0 ? `(${waiting}) ` : ''}${title} · Ringfence console`;
  }, [view, waiting, session.phase]);
  if (session.phase === 'starting') return <p class="starting">Loading…</p>;
  if (session.phase === 'signed-out') {
    return (
      <>
        <SignIn />
        <NoticeBar />
      </>
    );
  }
  return (
    <div class="shell">
      {/* biome-ignore lint/a11y/useValidAnchor: a skip link; the address stays, as it names the view */}
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById('main')?.focus();
        }}
      >
        Skip to content
      </a>
      <header class="bar">
        <h1 class="brand">
          <img src="/console/icon.svg" alt="" width="20" height="20" />
          Ringfence
        </h1>
        <Tabs<View>
          class="tabs"
          label="Views"
          selected={view}
          panel="main"
          onSelect={(id) => goTo(id)}
          tabs={[
            {
              id: 'live',
              label: (
                <>
                  <Icon name="live" /> Live
                  {waiting > 0 && (
                    <span class="count">
                      {waiting}
                      <span class="hidden"> waiting for approval</span>
                    </span>
                  )}
                </>
              ),
            },
            {
              id: 'calls',
              label: (
                <>
                  <Icon name="calls" /> Calls
                </>
              ),
            },
            {
              id: 'history',
              label: (
                <>
                  <Icon name="history" /> History
                </>
              ),
            },
            {
              id: 'roots',
              label: (
                <>
                  <Icon name="roots" />{' '}
                  <span>
                    Roots<span class="wide-only"> & clients</span>
                  </span>
                </>
              ),
            },
          ]}
        />
        <span class="push" />
        <span class={`connection ${session.isLive ? 'is-live' : ''}`} role="status">
          <span class="dot" aria-hidden="true" />
          {session.isLive ? 'Connected' : 'Reconnecting…'}
        </span>
        <span class="who wide-only">{session.state?.me.name}</span>
        <button
          type="button"
          class="button icon-only"
          onClick={theme.next}
          title={`Colours: ${theme.choice}`}
          aria-label={`Colours: ${theme.choice}. Change`}
        >
          <Icon name={theme.choice === 'system' ? 'system' : theme.choice === 'dark' ? 'moon' : 'sun'} />
        </button>
        <button
          type="button"
          class="button icon-only"
          onClick={() => void session.signOut()}
          title="Sign out"
          aria-label="Sign out"
        >
          <Icon name="leave" />
        </button>
      </header>
      <main class="frame">
        <div id="main" role="tabpanel" tabIndex={-1} aria-labelledby={`tab-${view}`} class={`view view-${view}`}>
          {view === 'live' && <LiveView theme={theme.shown} />}
          {view === 'calls' && <CallsView />}
          {view === 'history' && <HistoryView root={rest} />}
          {view === 'roots' && <RootsView />}
        </div>
      </main>
      <ApprovalAnnouncement />
      <NoticeBar />
    </div>
  );
}

/** Tells screen readers about calls that wait, in whatever view one is. */
function ApprovalAnnouncement() {
  const { approvals } = useSession('approvals');
  const newest = approvals.at(-1);
  return (
    <div class="hidden" role="alert" aria-live="assertive">
      {newest !== undefined &&
        `${approvals.length === 1 ? 'A call waits' : `${approvals.length} calls wait`} for approval. ${newest.tool} by ${newest.client ?? 'an unknown client'}: ${newest.message}`}
    </div>
  );
}

function NoticeBar() {
  const session = useSession('notice');
  const { notice } = session;
  return (
    <div class="notices" role="status" aria-live="polite">
      {notice !== undefined && (
        <div class={`notice ${notice.kind}`}>
          <Icon name={notice.kind === 'error' ? 'error' : 'success'} />
          <span>{notice.text}</span>
          <button type="button" class="button icon-only plain" aria-label="Dismiss" onClick={() => session.dismiss()}>
            <Icon name="close" />
          </button>
        </div>
      )}
    </div>
  );
}
