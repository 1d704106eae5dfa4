import { useLayoutEffect, useState } from 'preact/hooks';

const VIEWS = ['live', 'calls', 'history', 'roots'] as const;
export type View = (typeof VIEWS)[number];

/** The view in the address (`#history/docs`), and what stands after it. */
export interface Route {
  readonly view: View;
  readonly rest: string;
}

/** Returns the route and follows it. */
export function useRoute(): Route {
  const [route, setRoute] = useState(current);
  // Not useEffect, which runs after the next frame: a change of the address before it would not be seen.
  useLayoutEffect(() => {
    const onChange = () => setRoute(current());
    addEventListener('hashchange', onChange);
    return () => removeEventListener('hashchange', onChange);
  }, []);
  return route;
}

export function goTo(view: View, rest = ''): void {
  location.hash = rest === '' ? view : `${view}/${encodeURIComponent(rest)}`;
}

function current(): Route {
  const [name = '', rest = ''] = location.hash.slice(1).split('/');
  const view = VIEWS.find((one) => one === name) ?? 'live';
  try {
    return { view, rest: decodeURIComponent(rest) };
  } catch {
    return { view, rest: '' };
  }
}
