import { useState } from 'preact/hooks';
import { Tabs } from '../../parts/tabs.tsx';
import { goTo } from '../../parts/use-route.ts';
import { useSession } from '../../parts/use-session.ts';
import { ChangesPanel } from './changes-panel.tsx';
import { ReviewPanel } from './review-panel.tsx';

/** What was changed in a root: change by change, or all of it since a checkpoint. */
export function HistoryView({ root: named }: { readonly root: string }) {
  const { state } = useSession('state');
  const [mode, setMode] = useState<'changes' | 'review'>('changes');
  const roots = state?.roots.filter(({ history }) => history !== null).map(({ name }) => name) ?? [];
  const root = roots.includes(named) ? named : roots[0];
  if (root === undefined) {
    return (
      <p class="panel empty">
        No root of yours keeps a history. Set <code>history</code> on a root in the configuration to see and undo
        changes.
      </p>
    );
  }
  return (
    <div class="history">
      <div class="toolbar">
        <label class="field">
          <span>Root</span>
          <select value={root} onChange={(event) => goTo('history', event.currentTarget.value)}>
            {roots.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <Tabs<'changes' | 'review'>
          class="segments"
          label="What to show"
          panel="history-panel"
          selected={mode}
          onSelect={setMode}
          tabs={[
            { id: 'changes', label: 'Changes' },
            { id: 'review', label: 'Review' },
          ]}
        />
      </div>
      <div id="history-panel" role="tabpanel" aria-labelledby={`tab-${mode}`} class="history-panel">
        {mode === 'changes' ? <ChangesPanel key={root} root={root} /> : <ReviewPanel key={root} root={root} />}
      </div>
    </div>
  );
}
