import type { ComponentChildren, RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Rows that are rendered above and below the visible ones. */
const OVERSCAN = 8;

interface VirtualRowsProps {
  /** What is scrolled. It may have something above the rows that stays in view. */
  readonly scroller: RefObject<HTMLElement | null>;
  readonly count: number;
  /** Pixels; the same for all rows. */
  readonly rowHeight: number;
  /** Row that is to be in view. It is scrolled to when it changes. */
  readonly active: number | undefined;
  readonly row: (index: number) => ComponentChildren;
  readonly onScroll: (scrollTop: number) => void;
  /** Puts the list back to its top when it changes. */
  readonly resetKey: unknown;
}

/** A scrolled list that has only the visible rows in the document. */
export function VirtualRows(props: VirtualRowsProps) {
  const { scroller, count, rowHeight, active, row, onScroll, resetKey } = props;
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  const latest = useRef(onScroll);
  latest.current = onScroll;
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const measure = () => setView({ top: element.scrollTop, height: heightFor(element, box.current) });
    const onMove = () => {
      measure();
      latest.current(element.scrollTop);
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener('scroll', onMove, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', onMove);
    };
  }, [scroller]);
  useLayoutEffect(() => {
    if (scroller.current !== null) scroller.current.scrollTop = 0;
  }, [scroller, resetKey]);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null || active === undefined) return;
    const top = active * rowHeight;
    const height = heightFor(element, box.current);
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight > element.scrollTop + height) element.scrollTop = top + rowHeight - height;
  }, [scroller, active, rowHeight]);
  const first = Math.max(0, Math.min(count, Math.floor(view.top / rowHeight)) - OVERSCAN);
  const last = Math.min(count, Math.ceil((view.top + view.height) / rowHeight) + OVERSCAN);
  const rows = [];
  for (let index = first; index < last; index += 1) rows.push(row(index));
  return (
    <div class="rows" role="presentation" ref={box} style={{ height: `${count * rowHeight}px` }}>
      <div class="rows-shown" role="presentation" style={{ transform: `translateY(${first * rowHeight}px)` }}>
        {rows}
      </div>
    </div>
  );
}

/** Returns how much of the rows can be seen at once: what stays above them covers the rest. */
function heightFor({ clientHeight }: HTMLElement, rows: HTMLElement | null): number {
  return Math.max(0, clientHeight - (rows?.offsetTop ?? 0));
}
