import { useState } from 'preact/hooks';
import { api } from '../../data/api.ts';
import type { Approval } from '../../data/api-types.ts';
import { formatSpan } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { useNow } from '../../parts/use-now.ts';
import { useSession } from '../../parts/use-session.ts';

/** The calls that wait for a person, the one that expires first on top. Shows nothing if there are none. */
export function Approvals() {
  const { approvals } = useSession('approvals');
  if (approvals.length === 0) return null;
  const ordered = [...approvals].sort((one, other) => one.expires - other.expires);
  return (
    <section class="panel approvals" aria-labelledby="approvals-title">
      <header class="panel-head">
        <Icon name="lock" />
        <h2 id="approvals-title">Waiting for approval</h2>
        <span class="count">{approvals.length}</span>
      </header>
      <ul class="list">
        {ordered.map((approval) => (
          <ApprovalRow key={approval.id} approval={approval} />
        ))}
      </ul>
    </section>
  );
}

function ApprovalRow({ approval }: { readonly approval: Approval }) {
  const session = useSession();
  const now = useNow(1000);
  const [isSent, setIsSent] = useState(false);
  const answer = async (choice: 'allow' | 'refuse') => {
    setIsSent(true);
    try {
      await api.answer(approval.id, choice);
      session.say(`${approval.tool} was ${choice === 'allow' ? 'allowed' : 'refused'}.`);
    } catch (error) {
      setIsSent(false);
      session.fail(error);
    }
  };
  const left = approval.expires - now;
  const subject = `${approval.tool} ${approval.path ?? ''} of ${approval.client ?? 'an unknown client'}`;
  return (
    <li class="approval">
      <div class="approval-text">
        <div>
          <code class="strong">{approval.tool}</code>{' '}
          {approval.path !== null && (
            <span class="path">
              {approval.root !== null && <span class="faint">{approval.root}/</span>}
              {approval.path}
            </span>
          )}
        </div>
        <p>{approval.message}</p>
        {approval.own && <p class="faint">Made with your own token: somebody with another one has to answer.</p>}
        <div class="faint">
          asked by {approval.client ?? 'an unknown client'} ·{' '}
          <span class={left < 15_000 ? 'hurry' : ''}>
            <Icon name="clock" /> {left > 0 ? `${formatSpan(left)} left` : 'out of time'}
          </span>
        </div>
      </div>
      <div class="actions">
        <button
          type="button"
          class="button primary"
          disabled={isSent || approval.own}
          aria-label={`Allow ${subject}`}
          onClick={() => void answer('allow')}
        >
          Allow
        </button>
        <button
          type="button"
          class="button"
          disabled={isSent || approval.own}
          aria-label={`Refuse ${subject}`}
          onClick={() => void answer('refuse')}
        >
          Refuse
        </button>
      </div>
    </li>
  );
}
