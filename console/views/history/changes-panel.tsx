import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { api } from '../../data/api.ts';
import type { Change } from '../../data/api-types.ts';
import { formatFullTime, formatTime, plural } from '../../parts/format.ts';
import { useSession } from '../../parts/use-session.ts';
import { ChangeDiff } from './change-diff.tsx';

const PAGE = 100;

/** The changes of a root, newest first, with the diff of the one that is chosen. */
export function ChangesPanel({ root }: { readonly root: string }) {
  const session = useSession('calls');
  const [changes, setChanges] = useState<readonly Change[]>();
  const [hasMore, setHasMore] = useState(false);
  const [chosen, setChosen] = useState<string>();
  const list = useRef<HTMLUListElement>(null);
  const read = useCallback(
    async (before?: string) => {
      try {
        const page = await api.changes(root, PAGE, before);
        setChanges((known) => (before === undefined ? page.changes : [...(known ?? []), ...page.changes]));
        setHasMore(page.more);
      } catch (error) {
        session.fail(error);
        setChanges((known) => known ?? []);
      }
    },
    [root, session],
  );
  const latest = latestChange(session.calls.shown.at(0)?.id, session, root);
  useEffect(() => {
    const timer = setTimeout(() => void read(), latest === undefined || changes === undefined ? 0 : 500);
    return () => clearTimeout(timer);
  }, [read, latest]);
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    const buttons = [...(list.current?.querySelectorAll<HTMLElement>('button') ?? [])];
    const target = buttons[buttons.indexOf(document.activeElement as HTMLElement) + step];
    if (target === undefined) return;
    event.preventDefault();
    target.focus();
  };
  if (changes === undefined) return <p class="empty">Loading…</p>;
  if (changes.length === 0) return <p class="panel empty">Nothing was changed in {root} yet.</p>;
  const change = changes.find(({ id }) => id === chosen);
  return (
    <div class={`split ${change === undefined ? '' : 'has-choice'}`}>
      <div class="panel split-list">
        <ul class="list" ref={list} aria-label={`Changes of ${root}, newest first`} onKeyDown={onKeyDown}>
          {changes.map((one) => (
            <li key={one.id}>
              <button
                type="button"
                class="change"
                aria-pressed={one.id === chosen}
                onClick={() => setChosen(one.id)}
                title={formatFullTime(one.time)}
              >
                <span class="change-top">
                  <code class="strong">{one.tool}</code>
                  {one.undone && <span class="tag">Undone</span>}
                  <span class="push" />
                  <span class="faint">{formatTime(one.time)}</span>
                </span>
                <span class="change-paths path">{one.paths.join(', ')}</span>
                <span class="faint">
                  {one.client ?? 'unknown client'} · {plural(one.files, 'file')}
                </span>
              </button>
            </li>
          ))}
        </ul>
        {hasMore && (
          <button type="button" class="button more" onClick={() => void read(changes.at(-1)?.id)}>
            Show older changes
          </button>
        )}
      </div>
      <div class="split-detail">
        {change === undefined ? (
          <p class="panel empty">Choose a change to see what it did.</p>
        ) : (
          <ChangeDiff
            key={change.id}
            root={root}
            change={change}
            onBack={() => setChosen(undefined)}
            onUndone={() => void read()}
          />
        )}
      </div>
    </div>
  );
}

/** The id of the newest call seen that changed a root, among the latest ones. */
function latestChange(newest: number | undefined, { calls }: ReturnType<typeof useSession>, root: string) {
  for (let index = 0; newest !== undefined && index < 50; index += 1) {
    const call = calls.shown.at(index);
    if (call?.root === root && call.change !== null) return call.id;
  }
  return undefined;
}
