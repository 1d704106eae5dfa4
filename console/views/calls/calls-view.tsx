import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Call } from '../../data/api-types.ts';
import { formatNumber } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { useSession } from '../../parts/use-session.ts';
import { VirtualRows } from '../../parts/virtual-rows.tsx';
import { CallDetails } from './call-details.tsx';
import { CallFilters } from './call-filters.tsx';
import { CallRow } from './call-row.tsx';

/** Pixels, as in calls.css. */
const ROW_HEIGHT = { wide: 32, narrow: 56 };
const NARROW = '(max-width: 720px)';

/**
 * The stream of calls, newest on top. While one reads (the list is scrolled, or a row is chosen), newer calls are held back
 * and counted, so that nothing moves.
 */
export function CallsView() {
  const session = useSession('calls', 'state');
  const { calls } = session;
  const [isScrolled, setIsScrolled] = useState(false);
  const [chosen, setChosen] = useState<Call>();
  const [isOpen, setIsOpen] = useState(false);
  const isNarrow = useMedia(NARROW);
  const grid = useRef<HTMLDivElement>(null);
  const isReading = isScrolled || chosen !== undefined;
  const heldSince = useRef<number>(undefined);
  const [resets, setResets] = useState(0);
  if (!isReading) heldSince.current = undefined;
  else heldSince.current ??= calls.addedOnTop;
  const held = heldSince.current === undefined ? 0 : calls.addedOnTop - heldSince.current;
  const { shown, filter } = calls;
  const count = Math.max(0, shown.length - held);
  const at = (index: number) => shown.at(index + held);
  const active = chosen === undefined ? undefined : indexOf(chosen, count, at);

  const release = () => {
    setChosen(undefined);
    setIsOpen(false);
    setIsScrolled(false);
    setResets((resets) => resets + 1);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor((grid.current?.clientHeight ?? 400) / ROW_HEIGHT.wide) - 2);
    const from = active ?? -1;
    const to = {
      ArrowDown: from + 1,
      ArrowUp: Math.max(0, from - 1),
      PageDown: from + page,
      PageUp: from - page,
      Home: 0,
      End: count - 1,
    }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      if (count > 0) setChosen(at(Math.min(count - 1, Math.max(0, to))));
    } else if (event.key === 'Enter' && chosen !== undefined) {
      event.preventDefault();
      setIsOpen(true);
    } else if (event.key === 'Escape') {
      if (isOpen) setIsOpen(false);
      else release();
    }
  };
  useSlash();
  return (
    <div class={`calls ${isOpen && chosen !== undefined ? 'has-details' : ''}`}>
      <CallFilters
        onChange={() => {
          heldSince.current = undefined;
          release();
        }}
      />
      <div class="calls-status">
        <span role="status">
          {shown.length === calls.total
            ? `${formatNumber(calls.total)} calls`
            : `${formatNumber(shown.length)} of ${formatNumber(calls.total)} calls`}
        </span>
        {held > 0 && (
          <button type="button" class="button small primary" onClick={release}>
            <Icon name="up" /> {formatNumber(held)} new
          </button>
        )}
        <span class="push" />
        <span class="faint wide-only">
          <kbd>/</kbd> filter · <kbd>↑</kbd>
          <kbd>↓</kbd> move · <kbd>Enter</kbd> details · <kbd>Esc</kbd> close
        </span>
      </div>
      <div class="calls-body">
        <div
          class="grid"
          role="grid"
          aria-label="Calls, newest first"
          aria-rowcount={count + 1}
          aria-activedescendant={active === undefined ? undefined : `call-${chosen?.id}`}
          tabIndex={0}
          ref={grid}
          onKeyDown={onKeyDown}
        >
          <div role="row" aria-rowindex={1} class="call-row head">
            {['Outcome', 'Time', 'Tool', 'Path', 'Client', 'Took'].map((title) => (
              <div key={title} role="columnheader" class={`cell-${title.toLowerCase()}`}>
                {title}
              </div>
            ))}
          </div>
          <VirtualRows
            scroller={grid}
            count={count}
            rowHeight={isNarrow ? ROW_HEIGHT.narrow : ROW_HEIGHT.wide}
            active={active}
            resetKey={`${resets} ${JSON.stringify(filter)}`}
            onScroll={(top) => setIsScrolled(top > 4)}
            row={(index) => {
              const call = at(index);
              if (call === undefined) return null;
              return (
                <CallRow
                  key={call.id}
                  call={call}
                  index={index}
                  isActive={call.id === chosen?.id}
                  onOpen={() => {
                    setChosen(call);
                    setIsOpen(true);
                  }}
                />
              );
            }}
          />
          {count === 0 && (
            <p class="empty" role="presentation">
              {calls.total === 0 ? 'No calls yet. They appear here as they end.' : 'No call fits the filter.'}
            </p>
          )}
        </div>
        {isOpen && chosen !== undefined && (
          <CallDetails
            call={chosen}
            onClose={() => {
              setIsOpen(false);
              grid.current?.focus();
            }}
          />
        )}
      </div>
    </div>
  );
}

/** Finds a call in the list by its id, which falls from row to row. */
function indexOf(call: Call, count: number, at: (index: number) => Call | undefined): number | undefined {
  let [low, high] = [0, count - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const id = at(middle)?.id ?? 0;
    if (id === call.id) return middle;
    if (id > call.id) low = middle + 1;
    else high = middle - 1;
  }
  return undefined;
}

/** The slash key focuses the filter, unless one types. */
function useSlash(): void {
  // Not useEffect, which runs after the next frame: a key that is pressed before it would be lost.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLElement && event.target.matches('input, select, textarea');
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      document.getElementById('filter-text')?.focus();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const onChange = () => setMatches(list.matches);
    list.addEventListener('change', onChange);
    return () => list.removeEventListener('change', onChange);
  }, [query]);
  return matches;
}
