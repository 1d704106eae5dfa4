import { useState } from 'preact/hooks';
import { api } from '../../data/api.ts';
import type { RunningCall } from '../../data/api-types.ts';
import { formatDuration, formatNumber } from '../../parts/format.ts';
import { useNow } from '../../parts/use-now.ts';
import { useSession } from '../../parts/use-session.ts';

/** The calls that run for a while, each with its progress and a button that stops it. */
export function Running() {
  const { running } = useSession('running');
  return (
    <section class="panel" aria-labelledby="running-title">
      <header class="panel-head">
        <h2 id="running-title">Running</h2>
        <span class="faint">calls that take longer than 100 ms</span>
      </header>
      {running.length === 0 ? (
        <p class="empty">Nothing takes long at the moment.</p>
      ) : (
        <ul class="list">
          {running.map((call) => (
            <RunningRow key={call.id} call={call} />
          ))}
        </ul>
      )}
    </section>
  );
}

function RunningRow({ call }: { readonly call: RunningCall }) {
  const session = useSession();
  const now = useNow(500);
  const [isSent, setIsSent] = useState(false);
  const stop = async () => {
    setIsSent(true);
    try {
      await api.stop(call.id);
      session.say(`${call.tool} was stopped.`);
    } catch (error) {
      setIsSent(false);
      session.fail(error);
    }
  };
  return (
    <li class="running">
      <div class="running-text">
        <code class="strong">{call.tool}</code>{' '}
        <span class="path">
          {call.root !== null && <span class="faint">{call.root}/</span>}
          {call.path}
        </span>
        <div class="faint">
          {call.client ?? 'unknown client'} · {formatDuration(Math.max(0, now - call.started))}
        </div>
      </div>
      <Progress call={call} />
      <button
        type="button"
        class="button"
        disabled={isSent}
        aria-label={`Stop ${call.tool} ${call.path ?? ''}`}
        onClick={() => void stop()}
      >
        Stop
      </button>
    </li>
  );
}

function Progress({ call: { progress, tool } }: { readonly call: RunningCall }) {
  const label = `Progress of ${tool}`;
  if (progress === null) return <progress class="progress" aria-label={label} />;
  const { done, total } = progress;
  return (
    <div class="running-progress">
      {total === null ? (
        <progress class="progress" aria-label={label} />
      ) : (
        <progress class="progress" aria-label={label} value={done} max={Math.max(1, total)} />
      )}
      <span class="faint">
        {total === null ? formatNumber(done) : `${((done / Math.max(1, total)) * 100).toFixed(1)} %`}
      </span>
    </div>
  );
}
